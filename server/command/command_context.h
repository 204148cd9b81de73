// What a handler gets: the arguments, the place for its reply, the keyspace, and the ways to report
// what it changed. It knows no client, no configuration and no file: see ServerContext for those.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/words/word.h"
#include "server/command/command.h"
#include "server/command/command_host.h"
#include "server/resp/reply.h"

namespace tally::server {

inline constexpr std::string_view kWrongTypeError =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kNotIntegerError = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotFloatError = "ERR value is not a valid float";
inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNoSuchKeyError = "ERR no such key";
inline constexpr std::string_view kBusyError =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

class CommandContext {
 public:
  // One call, of one client or of a log that is replayed.
  struct Call {
    const CommandTable::Item& item;
    Args args;
    size_t database;
    int64_t now;  // unix ms
    // The call is an effect of an earlier one, which was judged then.
    bool replaying = false;
    // The command's FetchAhead has just been given this call.
    bool fetched = false;
    // The memory in which the arguments lie, if the call was received alone; may be null.
    Text* request = nullptr;
  };

  CommandContext(CommandHost& host_in, ReplyBuilder& reply_in, const Call& call)
      : host(host_in),
        item(call.item),
        args(call.args),
        reply(reply_in),
        now(call.now),
        database(call.database),
        replaying(call.replaying),
        fetched(call.fetched),
        request_(call.request) {}
  virtual ~CommandContext() = default;
  CommandContext(const CommandContext&) = delete;
  CommandContext& operator=(const CommandContext&) = delete;

  CommandHost& host;
  const CommandTable::Item& item;
  const Args args;
  ReplyBuilder& reply;
  const int64_t now;  // unix ms
  const size_t database;
  const bool replaying;
  const bool fetched;

  Engine& engine() { return host.engine; }
  Keyspace& keyspace() { return host.engine.database(database); }

  // What the caller may read beyond the keys that its words name.
  virtual bool MayRead(std::string_view key) const {
    (void)key;
    return true;
  }
  virtual bool MayReadEveryKey() const { return true; }

  // For commands that read the key: counts a hit or a miss.
  Keyspace::Entry Find(std::string_view key);
  // Counts a hit or a miss of a key that an operation has looked for.
  void NoteLookup(std::string_view key, bool found) {
    if (found) [[likely]] {
      ++host.lookups.hits;
    } else {
      NoteMiss(key);
    }
  }
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

  // Whether the call was received alone, in memory of its own.
  bool came_alone() const { return request_ != nullptr; }
  // The argument with the memory of the request, of which it is the most; empty where that is not
  // so. For the last thing that is stored: all arguments can be read until that value changes.
  Text TakeFromRequest(std::string_view arg) {
    return request_ == nullptr ? Text() : request_->Take(arg);
  }

  // The key has changed: counts it, reports it to watchers and listeners.
  void Changed(uint32_t event_class, std::string_view event, std::string_view key) {
    ++changes_;
    host.key_events.Changed(event_class, event, database, key);
  }
  // Counts a change that is of no single key.
  void CountChange() { ++changes_; }
  // Erases the key and reports it as `event`.
  void Remove(const Keyspace::Entry& entry, std::string_view event = "del");
  // A container that became empty ends its key, without an effect of its own in the log: replay of
  // the command empties it again.
  void RemoveEmpty(std::string_view key);

  // The effect to log in place of the command's own words; several calls log several commands. What
  // is replayed is in the stream already.
  void LogInstead(std::initializer_list<std::string_view> words) {
    LogInstead(Args(words.begin(), words.size()));
  }
  void LogInstead(Args words) {
    if (!replaying) host.effects.Append(database, words);
    logged_ = true;
  }
  // The command's effects were logged by the commands it ran.
  void LogNothing() { logged_ = true; }

  uint64_t changes() const { return changes_; }
  bool logged() const { return logged_; }

 private:
  void NoteMiss(std::string_view key);
  template <typename T>
  bool Unwrap(const Keyspace::Entry& entry, T*& out) {
    out = nullptr;
    if (!entry) return true;
    if (!CheckType(entry, kTypeOf<T>)) return false;
    out = &entry.heap<T>();
    return true;
  }

  Text* request_;
  uint64_t changes_ = 0;
  bool logged_ = false;
};

}  // namespace tally::server
