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
inline constexpr std::string_view kLoadingError = "LOADING Redis is loading the dataset in memory";
inline constexpr std::string_view kBusyError =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

class CommandContext {
 public:
  // One call, from a client or from a log that is replayed.
  struct Call {
    const CommandEntry& entry;
    Args args;
    size_t database;
    int64_t now_ms;  // unix ms
    // The call comes from a log: it is the effect of an earlier call, and is not judged again.
    bool replaying = false;
    // What such a call does is logged all the same: the log is another server's.
    bool logs_replay = false;
    // The command's FetchAhead has just fetched all that this call will read.
    bool fetched = false;
    // The memory that holds the arguments, if the call was received alone in memory of its own;
    // otherwise null.
    Text* request = nullptr;
    // The command has waited for this key, which is there now; null if it has not waited.
    const std::string_view* ready_key = nullptr;
  };

  CommandContext(CommandHost& host_in, ReplyBuilder& reply_in, const Call& call)
      : host(host_in),
        entry(call.entry),
        args(call.args),
        reply(reply_in),
        now_ms(call.now_ms),
        database(call.database),
        replaying(call.replaying),
        fetched(call.fetched),
        logs_(!call.replaying || call.logs_replay),
        request_(call.request),
        ready_key_(call.ready_key) {}
  virtual ~CommandContext() = default;
  CommandContext(const CommandContext&) = delete;
  CommandContext& operator=(const CommandContext&) = delete;

  CommandHost& host;
  const CommandEntry& entry;
  const Args args;
  ReplyBuilder& reply;
  const int64_t now_ms;  // unix ms
  const size_t database;
  const bool replaying;
  const bool fetched;

  Engine& engine() { return host.engine; }
  Keyspace& keyspace() { return host.engine.database(database); }

  // Whether the caller may read a key that its arguments do not name.
  virtual bool MayRead(std::string_view key) const {
    (void)key;
    return true;
  }
  virtual bool MayReadEveryKey() const { return true; }
  // Whether a script makes the call.
  virtual bool InScript() const { return false; }

  // Finds a key for a command that reads it, and counts a hit or a miss.
  Keyspace::Entry Find(std::string_view key);
  // Counts a hit or a miss for a key that an operation has already looked for.
  void NoteLookup(std::string_view key, bool found) {
    if (found) [[likely]] {
      ++host.lookups.hits;
    } else {
      NoteMiss(key);
    }
  }
  // Finds a key for a command that may change it; counts neither a hit nor a miss.
  Keyspace::Entry FindForWrite(std::string_view key) {
    return keyspace().FindForWrite(key, now_ms);
  }
  // True when the entry is absent or has the type; otherwise replies WRONGTYPE.
  bool CheckType(const Keyspace::Entry& found, Type type);
  // Sets `out` to the heap value of a key, or to null if the key is absent. Returns false after
  // replying WRONGTYPE. Read finds the key as Find() does, Write as FindForWrite() does.
  template <typename T>
  [[nodiscard]] bool Read(std::string_view key, T*& out) {
    return Unwrap(Find(key), out);
  }
  template <typename T>
  [[nodiscard]] bool Write(std::string_view key, T*& out) {
    return Unwrap(FindForWrite(key), out);
  }

  // Each returns the number that is the argument at `index`. If the argument is no such number, it
  // replies the usual error, or `error`, and returns nothing.
  std::optional<int64_t> Int64Arg(size_t index, std::string_view error = kNotIntegerError);
  std::optional<int64_t> Int64ArgIn(size_t index, int64_t low, int64_t high,
                                    std::string_view error = kNotIntegerError);
  // The index of a database that exists.
  std::optional<size_t> DatabaseArg(size_t index);
  std::optional<double> DoubleArg(size_t index, std::string_view error = kNotFloatError);

  // For a command that waits until one of its keys gets a value of the type. KeysToTry returns the
  // keys in which it must look: all of them, or after it has waited the one that is there now. If
  // there is no such value it calls WaitFor and returns; it is run again later, with the same
  // arguments. WaitFor returns false if the caller does not wait (a transaction, a script, a
  // replay, or a host that has no clients): then the command must reply that there is nothing. A
  // timeout of 0 never ends.
  Args KeysToTry(Args keys) const { return ready_key_ == nullptr ? keys : Args(ready_key_, 1); }
  virtual bool WaitFor(Type type, Args keys, int64_t timeout_ms) {
    static_cast<void>(type), static_cast<void>(keys), static_cast<void>(timeout_ms);
    return false;
  }

  // Whether the call was received alone, in memory of its own.
  bool came_alone() const { return request_ != nullptr; }
  // Returns the argument in the memory of the request, without a copy. Returns an empty text if the
  // call did not come alone, or if the argument is not most of that memory. Only for the last thing
  // that a command stores: all arguments can be read until the stored value changes.
  Text TakeFromRequest(std::string_view arg);

  // Counts a change of the key, and reports it to watchers and listeners.
  void Changed(uint32_t event_class, std::string_view event, std::string_view key) {
    ++changes_;
    host.key_events.Changed(event_class, event, database, key);
  }
  // Counts a change without reporting a key.
  void CountChange() { ++changes_; }
  // Erases the key and reports it as `event`.
  void Remove(const Keyspace::Entry& found, std::string_view event = "del");
  // Erases the key of a container that became empty; asserts that the key exists. This has no
  // effect of its own in the log, because a replay of the command empties the container again.
  void RemoveEmpty(std::string_view key);

  // Logs these words in place of the command's own; several calls log several commands. In a replay
  // of our own log nothing is logged, because it has the effect already.
  void LogInstead(std::initializer_list<std::string_view> words) {
    LogInstead(Args(words.begin(), words.size()));
  }
  void LogInstead(Args words) {
    if (logs_) host.effects.Append(database, words);
    logged_ = true;
  }
  // Logs nothing for this call, not even the command's own words.
  void LogNothing() { logged_ = true; }
  // Whether nobody reads the effects of the call, so that their words need not be formatted. If so,
  // logs nothing.
  [[nodiscard]] bool LogsNowhere() {
    if (logs_ && host.effects.enabled()) return false;
    LogNothing();
    return true;
  }

  uint64_t changes() const { return changes_; }
  // Whether effects of the call are appended to the stream.
  bool logs() const { return logs_; }
  bool logged() const { return logged_; }

 protected:
  bool has_waited() const { return ready_key_ != nullptr; }

 private:
  void NoteMiss(std::string_view key);
  template <typename T>
  bool Unwrap(const Keyspace::Entry& found, T*& out) {
    out = nullptr;
    if (!found) return true;
    if (!CheckType(found, kTypeOf<T>)) return false;
    out = &found.heap<T>();
    return true;
  }

  const bool logs_;
  Text* request_;
  const std::string_view* ready_key_;
  uint64_t changes_ = 0;
  bool logged_ = false;
};

}  // namespace tally::server
