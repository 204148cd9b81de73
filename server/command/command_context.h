// What a handler gets: the arguments, the place for its reply, the keyspace, and the ways to tell
// what it changed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/state/server_state.h"

namespace tally::server {

inline constexpr std::string_view kWrongTypeError =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kNotIntegerError = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotFloatError = "ERR value is not a valid float";
inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNoSuchKeyError = "ERR no such key";
inline constexpr std::string_view kBusyError =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

// Whether both, of one size, are the same in any case; `lower` is lower case.
bool SameLetters(std::string_view arg, std::string_view lower);

// Compares an option word in any case; `lower` is lower case.
inline bool IsWord(std::string_view arg, std::string_view lower) {
  return arg.size() == lower.size() && SameLetters(arg, lower);
}

class CommandContext {
 public:
  CommandContext(ServerState& server_in, Client& client_in, const CommandTable::Item& item_in,
                 Args args_in)
      : server(server_in),
        client(client_in),
        item(item_in),
        args(args_in),
        reply(client_in.reply),
        now(server_in.clock.now_ms()) {}

  ServerState& server;
  Client& client;
  const CommandTable::Item& item;
  const Args args;
  ReplyBuilder& reply;
  const int64_t now;  // unix ms

  Engine& engine() { return server.engine; }
  Keyspace& keyspace() { return server.engine.database(client.database); }

  // Whether the command's FetchAhead has just been given this call.
  bool fetched() const { return client.fetched_command == &item; }

  // For commands that read the key: counts a hit or a miss.
  Keyspace::Entry Find(std::string_view key);
  // For commands that are going to change it.
  Keyspace::Entry FindForWrite(std::string_view key) { return keyspace().FindForWrite(key, now); }
  // True when the entry is absent or has the type; otherwise replies WRONGTYPE.
  bool CheckType(const Keyspace::Entry& entry, Type type);
  // The heap value of a key in `out`, null if the key is absent. False after replying WRONGTYPE.
  template <typename T>
  [[nodiscard]] bool Read(std::string_view key, T*& out) {
    return Unwrap(Find(key), out);
  }
  template <typename T>
  [[nodiscard]] bool Write(std::string_view key, T*& out) {
    return Unwrap(FindForWrite(key), out);
  }

  // These reply the usual error, or `error`, and give nothing when the argument is no such number.
  std::optional<int64_t> Int64Arg(size_t index, std::string_view error = kNotIntegerError);
  std::optional<int64_t> Int64ArgIn(size_t index, int64_t low, int64_t high,
                                    std::string_view error = kNotIntegerError);
  // The index of a database.
  std::optional<size_t> DatabaseArg(size_t index);
  std::optional<double> DoubleArg(size_t index, std::string_view error = kNotFloatError);

  // The argument with the memory of the request, of which it is the most; empty where that is not
  // so. For the last thing that is stored: all arguments can be read until that value changes.
  Text TakeFromRequest(std::string_view arg) {
    return client.request == nullptr ? Text() : client.request->Take(arg);
  }

  // Keeps what was taken until the command is over: an output that is full may have dropped it, but
  // monitors and the slow log still read the arguments.
  void KeepRequest(const SharedBytes& taken) { request_ = taken; }

  // The key has changed: counts it, tells watchers and listeners.
  void Changed(uint32_t event_class, std::string_view event, std::string_view key) {
    ++changes_;
    server.key_events.Changed(event_class, event, client.database, key);
  }
  // Counts a change that no single key tells of.
  void CountChange() { ++changes_; }
  // Erases the key and tells of it as `event`.
  void Remove(const Keyspace::Entry& entry, std::string_view event = "del");
  // A container that became empty ends its key, without an effect of its own in the log: replay of
  // the command empties it again.
  void RemoveEmpty(std::string_view key);

  // The effect to log in place of the command's own words; several calls log several commands.
  void LogInstead(std::initializer_list<std::string_view> words) {
    LogInstead(Args(words.begin(), words.size()));
  }
  void LogInstead(Args words) {
    server.effects.Append(client.database, words);
    logged_ = true;
  }
  // The command's effects were logged by the commands it ran.
  void LogNothing() { logged_ = true; }

  uint64_t changes() const { return changes_; }
  bool logged() const { return logged_; }

 private:
  template <typename T>
  bool Unwrap(const Keyspace::Entry& entry, T*& out) {
    out = nullptr;
    if (!entry) return true;
    if (!CheckType(entry, kTypeOf<T>)) return false;
    out = &entry.heap<T>();
    return true;
  }

  SharedBytes request_;
  uint64_t changes_ = 0;
  bool logged_ = false;
};

}  // namespace tally::server
