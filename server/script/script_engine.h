// Runs Lua scripts, one at a time, and keeps those it has compiled.
//
// liblua raises its errors by longjmp, past every destructor: no object that has one may live in a
// frame that a raise can leave. What scripts' calls need of memory is therefore the engine's.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <list>
#include <lua.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/double_format.h"
#include "server/command/command.h"
#include "server/script/script_watch.h"
#include "server/script/sha1.h"
#include "server/state/client.h"
#include "server/state/command_runner.h"
#include "server/state/services.h"

namespace tally::server {

struct Script {
  Sha1Hex sha;
  int function = 0;  // in Lua's registry
  bool declares_flags = false;
  bool no_writes = false;
  bool allow_oom = false;
  bool pinned = false;                            // came by SCRIPT LOAD
  std::list<std::array<char, 40>>::iterator use;  // its place in the order of use, if not pinned
};

class ScriptEngine {
 public:
  explicit ScriptEngine(Services& server);
  ~ScriptEngine();
  ScriptEngine(const ScriptEngine&) = delete;
  ScriptEngine& operator=(const ScriptEngine&) = delete;

  // The script of that SHA1, in hex of any case; null if it is not kept.
  const Script* Find(std::string_view sha) const;
  // Find, for a script that is going to be run.
  const Script* Use(std::string_view sha);
  // Compiles a script, unless it is kept already, and keeps it: until Flush if it is `pinned`,
  // otherwise as long as it is among the last kMaxUnpinned that were used. Fails with an error
  // reply's text. The pointer is good until the next Load or Flush.
  absl::StatusOr<const Script*> Load(std::string_view body, bool pinned);
  void Flush();
  size_t size() const { return scripts_.size(); }
  size_t memory_usage() const { return used_bytes_; }

  // Runs the script for `caller` and appends one reply to its output. With `read_only` the script's
  // writes fail.
  void Run(const Script& script, Client& caller, Args keys, Args args, bool read_only);

  // Whether the script that is running has changed anything.
  bool wrote() const { return script_client_.wrote; }
  ScriptWatch& watch() { return watch_; }

  // The rest is for the running script's calls.

  // Takes the arguments of a call from the stack; false if one is neither string nor number.
  bool TakeArgs(lua_State* lua);
  // Runs the command that TakeArgs took. The reply is valid until the next call.
  std::string_view RunTaken();
  // Whether the caller's user may run the command that TakeArgs took; empty if it is none.
  std::optional<bool> MayRunTaken() const;
  // The protocol that replies come to the script in.
  void set_protocol(int protocol) { script_client_.reply.set_protocol(protocol); }
  Services& server() { return server_; }

  // What the strings and tables of all scripts may take: enough for the largest value there can be.
  static constexpr size_t kMaxBytes = size_t{512} << 20;
  // Clients that put their arguments into the text make a new script with each call.
  static constexpr size_t kMaxUnpinned = 500;

 private:
  struct Invocation {
    const Script* script = nullptr;
    Client* caller = nullptr;
    Args keys;
    Args args;
    ScriptRights rights;
  };
  struct Compilation {
    std::string_view code;
    int function = 0;
    int dropped = LUA_NOREF;  // a function that goes first
  };

  static void* Allocate(void* engine, void* block, size_t old_size, size_t new_size);
  // These run inside protected calls; the engine is their argument.
  static int Open(lua_State* lua);
  static int Compile(lua_State* lua);
  static int Invoke(lua_State* lua);

  void OpenState();
  void CloseState();
  // Takes the script that was used longest ago off the books. Returns its function.
  int DropOldest();
  // Calls one of the functions above. False after an error, whose text is put into `error_`.
  bool CallProtected(int function);
  void ReplyFailure(lua_State* lua);

  Services& server_;
  ScriptWatch watch_;
  lua_State* lua_ = nullptr;
  size_t used_bytes_ = 0;
  int compile_ = 0;  // in Lua's registry, so that calling them takes no memory
  int invoke_ = 0;
  int add_place_ = 0;

  Sha1Memo names_;
  absl::flat_hash_map<std::array<char, 40>, Script> scripts_;  // by Sha1Hex::digits
  std::list<std::array<char, 40>> by_use_;  // those not pinned, the last used first
  Invocation invocation_;
  Compilation compilation_;
  std::string error_;

  Client script_client_;
  std::string joined_;  // a reply that lies in several blocks
  std::vector<std::string_view> args_;
  std::vector<std::array<char, kMaxDoubleBytes>> numbers_;  // digits of arguments that are numbers
};

}  // namespace tally::server
