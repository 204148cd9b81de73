// Each command is described by a row: its name, its handler and all that COMMAND, ACL and the
// dispatcher need to know. Each file of a family in server/commands/ ends with its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tally {
class Keyspace;
}  // namespace tally

namespace tally::server {

class CommandContext;
class ServerContext;

using Args = std::span<const std::string_view>;

// The function that runs a command. It takes a CommandContext if it works on values alone, or a
// ServerContext if it needs what only the server has. A container of subcommands has no function.
class Handler {
 public:
  constexpr Handler(std::nullptr_t = nullptr) {}
  constexpr Handler(void (*run)(CommandContext& context)) : run_(run) {}
  constexpr Handler(void (*run)(ServerContext& context)) : run_in_server_(run) {}

  constexpr bool needs_server() const { return run_in_server_ != nullptr; }
  constexpr bool operator==(std::nullptr_t) const {
    return run_ == nullptr && run_in_server_ == nullptr;
  }
  // Run() may be called only if needs_server() is false, RunInServer() only if it is true.
  void Run(CommandContext& context) const { run_(context); }
  void RunInServer(ServerContext& context) const { run_in_server_(context); }

 private:
  void (*run_)(CommandContext& context) = nullptr;
  void (*run_in_server_)(ServerContext& context) = nullptr;
};

// The flags that COMMAND INFO shows, and after them a few of our own.
enum CommandFlags : uint32_t {
  kWrite = 1u << 0,
  kReadOnly = 1u << 1,
  kDenyOom = 1u << 2,  // refused above maxmemory
  kAdmin = 1u << 3,
  kPubSub = 1u << 4,
  kNoScript = 1u << 5,
  kBlocking = 1u << 6,
  kLoading = 1u << 7,  // allowed while the data is being loaded
  kStale = 1u << 8,
  kSkipMonitor = 1u << 9,
  kSkipSlowlog = 1u << 10,
  kFast = 1u << 11,    // O(1) or O(log n)
  kNoAuth = 1u << 12,  // allowed before AUTH
  kMayReplicate = 1u << 13,
  kNoMulti = 1u << 14,
  kAllowBusy = 1u << 15,
  kMovableKeys = 1u << 16,
  kDangerous = 1u << 17,
  kKeyspaceCategory = 1u << 18,  // ACL category @keyspace, besides the family's own
  kCollections = 1u << 19,       // ACL categories @list, @set and @sortedset, besides its own
  kNoExec = 1u << 20,            // may be queued, but EXEC refuses to run it
  kInMulti = 1u << 21,           // acts on the transaction itself, so MULTI does not queue it
  kEndsMulti = 1u << 22,         // the transaction is over after this command
  kRunsQueue = 1u << 23,         // runs the queued commands, whose flags are checked with its own
  kWhileSubscribed = 1u << 24,   // a subscriber may send it in RESP2
  kWhilePaused = 1u << 25,       // CLIENT PAUSE does not hold it back
  kConnection = 1u << 26,        // changes the connection's state; refused over HTTP
  kRefusedWhileUnhealthy = 1u << 27,  // refused while the server does not serve, even before AUTH
  kReadsByCalls = 1u << 28,           // itself reads nothing: the commands that it calls do
  kKeepsCaching = 1u << 29,           // CLIENT CACHING stays in force for the command after it
  kFromReplica = 1u << 30,            // a replica may send it while it gets the stream
};

// The usual combinations.
inline constexpr uint32_t kStores = kWrite | kDenyOom;
inline constexpr uint32_t kAnyTime = kLoading | kStale;
inline constexpr uint32_t kOperator = kAdmin | kDangerous | kNoScript;

// What a command does with a key, as COMMAND names it. For ACL, kKeyAccess needs the right to read
// the key, and each of kKeyUpdate, kKeyInsert and kKeyDelete the right to write it.
enum KeyFlags : uint16_t {
  kKeyReadOnly = 1u << 0,
  kKeyReadWrite = 1u << 1,
  kKeyOverwrite = 1u << 2,  // replaces the value, whatever it was
  kKeyRemove = 1u << 3,
  kKeyAccess = 1u << 4,  // the value's content gets into the reply or into another key
  kKeyUpdate = 1u << 5,
  kKeyInsert = 1u << 6,
  kKeyDelete = 1u << 7,
  kKeyVariable = 1u << 8,  // some arguments need fewer of the flags
  kNotKey = 1u << 9,       // a shard channel: only a cluster's clients look where it is
};

// The usual combinations.
inline constexpr uint16_t kLooksAtKey = kKeyReadOnly;
inline constexpr uint16_t kReadsKey = kKeyReadOnly | kKeyAccess;
inline constexpr uint16_t kChangesKey = kKeyReadWrite | kKeyAccess | kKeyUpdate;
inline constexpr uint16_t kUpdatesKey = kKeyReadWrite | kKeyUpdate;
inline constexpr uint16_t kInsertsIntoKey = kKeyReadWrite | kKeyInsert;
inline constexpr uint16_t kDeletesFromKey = kKeyReadWrite | kKeyDelete;
inline constexpr uint16_t kTakesFromKey = kKeyReadWrite | kKeyAccess | kKeyDelete;
inline constexpr uint16_t kOverwritesKey = kKeyOverwrite | kKeyUpdate;
inline constexpr uint16_t kCreatesKey = kKeyOverwrite | kKeyInsert;
inline constexpr uint16_t kRemovesKey = kKeyRemove | kKeyDelete;

// Where the keys are among the arguments, as COMMAND shows it, and what is done with them. `first`
// is 0 if the range describes no keys. A negative `last` counts from the end: -1 is the last
// argument.
struct KeyRange {
  int first = 0;
  int last = 0;
  int step = 0;
  uint16_t use = 0;         // KeyFlags; 0: kReadsKey, or kChangesKey if the command writes
  uint16_t others_use = 0;  // of all keys but the first; 0: the same
};

inline constexpr KeyRange kNoKeys;
inline constexpr KeyRange kOneKey{1, 1, 1};
constexpr KeyRange OneKey(uint16_t use) { return {1, 1, 1, use}; }
constexpr KeyRange TwoKeys(uint16_t first_use, uint16_t second_use) {
  return {1, 2, 1, first_use, second_use};
}
// Every argument is a key.
constexpr KeyRange AllKeys(uint16_t use, uint16_t others_use = 0) {
  return {1, -1, 1, use, others_use};
}

struct KeyReference {
  size_t index;      // among the arguments
  uint16_t use = 0;  // KeyFlags; 0: as the row says

  bool operator==(const KeyReference&) const = default;
};

// For commands whose keys no KeyRange describes: appends the keys, returns false if the syntax is
// wrong.
using KeyFinder = bool (*)(Args args, std::vector<KeyReference>& keys);

// Whether SLOWLOG has to hide the argument at `index`.
using SecretFinder = bool (*)(Args args, size_t index);

// Brings into the cache what calls of the command will read from their keys, so that the cache
// misses of a whole batch overlap. The calls may be malformed in any way. Affects nothing but time.
// Returns true if nothing of the calls was left out.
using FetchAhead = bool (*)(const Keyspace& keyspace, std::span<const Args> calls);

// The words of a call that name channels, for which a user needs rights.
enum class ChannelWords : uint8_t { kNone, kFirst, kAll, kAllPatterns };

struct Command {
  std::string_view name;  // lower case; a subcommand's is only its second word
  Handler handler = nullptr;
  int arity = 0;  // number of words with the name; negative: at least this many (-2: 2 or more)
  uint32_t flags = 0;
  KeyRange keys;
  std::string_view summary;
  std::string_view since;
  std::string_view arguments = {};  // see arguments.h
  std::span<const Command> subcommands = {};
  KeyFinder find_keys = nullptr;
  SecretFinder is_secret = nullptr;
  FetchAhead fetch_ahead = nullptr;
  // KeyFlags of the policy that the second word names; 0 if the command names none. A policy is not
  // a key, and COMMAND does not show it, but a user needs the same rights for its name as for a
  // key.
  uint16_t policy_use = 0;
  ChannelWords channels = ChannelWords::kNone;
  // The names of the elements of the reply, for JSON: "a b" for an array of two elements, "[a b]"
  // for an array of such arrays, "a b:[c d]" if b is such an array of arrays. Empty: they have no
  // names.
  std::string_view reply_names = {};
};

// Returns the row with these words as names of channels.
constexpr Command Naming(ChannelWords channels, Command row) {
  row.channels = channels;
  return row;
}

// Returns the row with `names` as the names of its reply.
constexpr Command Replying(std::string_view names, Command row) {
  row.reply_names = names;
  return row;
}

// ACL categories and COMMAND DOCS groups, one for each family.
struct CommandFamily {
  std::string_view group;     // as COMMAND DOCS names it
  std::string_view category;  // as ACL CAT names it
  std::span<const Command> commands;
  bool native = false;  // tallyd's own: error replies about the syntax show the command's usage
};

// Appends the keys of a call with their KeyFlags, which are never 0. Returns false if the syntax is
// wrong; `keys` may then hold some of them.
bool FindKeys(const Command& command, Args args, std::vector<KeyReference>& keys);
// Returns the KeyFlags of the command's first key, or those of its other keys.
uint16_t KeyUse(const Command& command, bool first);

constexpr bool ArityFits(const Command& command, size_t argc) {
  return command.arity >= 0 ? argc == static_cast<size_t>(command.arity)
                            : argc >= static_cast<size_t>(-command.arity);
}

}  // namespace tally::server
