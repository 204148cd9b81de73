// Runs Lua scripts, one at a time, and keeps the scripts that it has compiled.
//
// liblua raises its errors by longjmp, which skips every destructor. So no object that has a
// destructor may live in a frame that an error can leave. The memory that calls of scripts need
// therefore belongs to the engine.
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
#include "server/interfaces/command_runner.h"
#include "server/interfaces/services.h"
#include "server/script/script_watch.h"
#include "server/script/sha1.h"
#include "server/state/client.h"

namespace tally::server {

struct Script {
  Sha1Hex sha;
  int function = 0;  // reference in Lua's registry
  bool declares_flags = false;
  bool no_writes = false;
  bool allow_oom = false;
  bool pinned = false;                            // loaded by SCRIPT LOAD
  std::list<std::array<char, 40>>::iterator use;  // place in by_use_, if not pinned
};

class ScriptEngine {
 public:
  explicit ScriptEngine(Services& server);
  ~ScriptEngine();
  ScriptEngine(const ScriptEngine&) = delete;
  ScriptEngine& operator=(const ScriptEngine&) = delete;

  // Returns the script with this SHA1, in hex of any case; null if it is not kept.
  const Script* Find(std::string_view sha) const;
  // As Find, for a script that is going to be run: marks it as the last used.
  const Script* Use(std::string_view sha);
  // Compiles and keeps a script, unless it is kept already. A `pinned` script is kept until Flush;
  // any other as long as it is among the kMaxUnpinned that were used last. The message of an error
  // is the text of the error reply. The pointer is valid until the next Load or Flush.
  absl::StatusOr<const Script*> Load(std::string_view body, bool pinned);
  void Flush();
  size_t size() const { return scripts_.size(); }
  size_t memory_usage() const { return used_bytes_; }
  // The memory of the names by which scripts are found, about.
  size_t index_bytes() const {
    return scripts_.capacity() * sizeof(decltype(scripts_)::value_type);
  }

  // Runs the script for `caller` and appends one reply to the output of `caller`. With `read_only`
  // the script may not write.
  void Run(const Script& script, Client& caller, Args keys, Args args, bool read_only);

  // Whether the running script has changed anything.
  bool wrote() const { return script_client_.wrote; }
  ScriptWatch& watch() { return watch_; }

  // The functions below are for the calls of the running script.

  // Takes the arguments of a call from the stack. Returns false if one is neither a string nor a
  // number.
  bool TakeArgs(lua_State* lua);
  // How many bytes the arguments that TakeArgs took have together.
  size_t TakenBytes() const;
  // Runs the command that TakeArgs took. The reply is valid until the next call.
  std::string_view RunTaken();
  // Whether the user of the caller may run the command that TakeArgs took; nullopt if there is no
  // such command.
  std::optional<bool> MayRunTaken() const;
  // Sets the protocol of the replies that the script gets.
  void set_protocol(int protocol) { script_client_.reply.set_protocol(protocol); }
  Services& server() { return server_; }

  // The most bytes that the Lua state, with the strings and tables of all scripts, may take: enough
  // for the largest possible value.
  static constexpr size_t kMaxBytes = size_t{512} << 20;
  // The most scripts that are kept without SCRIPT LOAD. There must be a limit, because clients that
  // put their arguments into the text make a new script with each call.
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
    bool replaces_oldest = false;  // there is no more room, so that one script is dropped
    int function = 0;
  };

  static void* Allocate(void* engine, void* block, size_t old_size, size_t new_size);
  // These run inside protected calls. Their argument is the engine.
  static int Open(lua_State* lua);
  static int Compile(lua_State* lua);
  static int Invoke(lua_State* lua);

  void OpenState();
  void CloseState();
  // Removes the script that was used longest ago from scripts_ and by_use_. Returns its `function`,
  // which the caller frees.
  int DropOldest();
  // Calls one of the functions above. After an error, puts its text into `error_` and returns
  // false.
  bool CallProtected(int function);
  void ReplyFailure(lua_State* lua);
  // Called after a command of a client that tracks keys.
  void NoteRead();

  Services& server_;
  ScriptWatch watch_;
  lua_State* lua_ = nullptr;
  size_t used_bytes_ = 0;
  int compile_ = 0;  // references in Lua's registry: to call them takes no memory
  int invoke_ = 0;
  int add_place_ = 0;

  Sha1Memo names_;
  absl::flat_hash_map<std::array<char, 40>, Script> scripts_;  // by Sha1Hex::digits
  std::list<std::array<char, 40>> by_use_;  // scripts not pinned, last used first
  Invocation invocation_;
  Compilation compilation_;
  std::string error_;

  Client script_client_;
  std::string joined_;  // holds a reply that was in several blocks
  std::vector<std::string_view> args_;
  std::vector<std::array<char, kMaxDoubleBytes>> numbers_;  // digits of arguments that are numbers
};

}  // namespace tally::server
