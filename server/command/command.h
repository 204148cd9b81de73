// A command is a row: its name, handler and all that COMMAND, ACL and the dispatcher need to know.
// Each family's file in server/commands/ ends with its rows.
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

// The function that runs a command: on values alone, or with what only the server has. No function
// for a container of subcommands.
class Handler {
 public:
  constexpr Handler(std::nullptr_t = nullptr) {}
  constexpr Handler(void (*run)(CommandContext& context)) : run_(run) {}
  constexpr Handler(void (*run)(ServerContext& context)) : run_in_server_(run) {}

  constexpr bool needs_server() const { return run_in_server_ != nullptr; }
  constexpr bool operator==(std::nullptr_t) const {
    return run_ == nullptr && run_in_server_ == nullptr;
  }
  // Requires one that does not need the server.
  void Run(CommandContext& context) const { run_(context); }
  void RunInServer(ServerContext& context) const { run_in_server_(context); }

 private:
  void (*run_)(CommandContext& context) = nullptr;
  void (*run_in_server_)(ServerContext& context) = nullptr;
};

// As COMMAND INFO names them, and a few of our own at the end.
enum CommandFlags : uint32_t {
  kWrite = 1u << 0,
  kReadOnly = 1u << 1,
  kDenyOom = 1u << 2,  // refused above maxmemory
  kAdmin = 1u << 3,
  kPubSub = 1u << 4,
  kNoScript = 1u << 5,
  kBlocking = 1u << 6,
  kLoading = 1u << 7,  // allowed while the data is loaded
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
  kKeyspaceCategory = 1u << 18,  // ACL category @keyspace, beside the family's own
  kCollections = 1u << 19,       // ACL categories @list, @set and @sortedset, likewise
  kNoExec = 1u << 20,            // may be queued, but EXEC refuses to run it
  kInMulti = 1u << 21,           // acts on the transaction itself, so MULTI does not queue it
  kEndsMulti = 1u << 22,         // the transaction is over when it has run
  kRunsQueue = 1u << 23,         // runs what was queued, with the flags of that
  kWhileSubscribed = 1u << 24,   // a subscriber may send it in RESP2
  kWhilePaused = 1u << 25,       // CLIENT PAUSE does not hold it back
  kConnection = 1u << 26,        // changes how its connection goes on, which HTTP's cannot
};

// What a command does with a key, as COMMAND names it. ACL asks for the right to read where there
// is kKeyAccess, and for the right to write where there is one of kKeyUpdate to kKeyDelete.
enum KeyFlags : uint16_t {
  kKeyReadOnly = 1u << 0,
  kKeyReadWrite = 1u << 1,
  kKeyOverwrite = 1u << 2,  // whatever was there
  kKeyRemove = 1u << 3,
  kKeyAccess = 1u << 4,  // what the value holds gets out: into the reply, or into another key
  kKeyUpdate = 1u << 5,
  kKeyInsert = 1u << 6,
  kKeyDelete = 1u << 7,
  kKeyVariable = 1u << 8,  // less for some arguments
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

// Where the keys are among the arguments, as COMMAND says, and what becomes of them: a last
// of -1 is the last argument.
struct KeyRange {
  int first = 0;
  int last = 0;
  int step = 0;
  uint16_t use = 0;         // KeyFlags; 0: kReadsKey, or kChangesKey if the command writes
  uint16_t others_use = 0;  // of all keys but the first; 0: the same
};

constexpr KeyRange OneKey(uint16_t use) { return {1, 1, 1, use}; }
constexpr KeyRange TwoKeys(uint16_t first_use, uint16_t second_use) {
  return {1, 2, 1, first_use, second_use};
}
// Every argument.
constexpr KeyRange AllKeys(uint16_t use, uint16_t others_use = 0) {
  return {1, -1, 1, use, others_use};
}

struct KeyReference {
  size_t index;      // among the arguments
  uint16_t use = 0;  // KeyFlags; 0: as the row says

  bool operator==(const KeyReference&) const = default;
};

// For commands whose keys no range describes: appends the keys; false for wrong syntax.
using KeyFinder = bool (*)(Args args, std::vector<KeyReference>& keys);

// Whether SLOWLOG has to hide an argument.
using SecretFinder = bool (*)(Args args, size_t index);

// Hints what calls of the command, all of one batch, are about to read of their keys, so that
// their cache misses overlap. The calls may be wrong in any way; of no effect but on time. True if
// nothing of them was left out.
using FetchAhead = bool (*)(const Keyspace& keyspace, std::span<const Args> calls);

struct Command {
  std::string_view name;  // lower case; a subcommand's is only its second word
  Handler handler = nullptr;
  int arity = 0;  // the name counts; negative: at least this many
  uint32_t flags = 0;
  KeyRange keys;
  std::string_view summary;
  std::string_view since;
  std::string_view arguments = {};  // see arguments.h
  std::span<const Command> subcommands = {};
  KeyFinder find_keys = nullptr;
  SecretFinder is_secret = nullptr;
  FetchAhead fetch_ahead = nullptr;
  // KeyFlags of the policy that the second word names; 0: it names none. A policy is no key, and
  // COMMAND says nothing of it, but a user needs the same rights for its name as for a key's.
  uint16_t policy_use = 0;
  // What the elements of the reply are called, for JSON: "a b" for an array of two, "[a b]" for an
  // array of such arrays, "a b:[c d]" where b is one. Empty: they have no names.
  std::string_view reply_names = {};
};

// The row of a command whose reply has names.
constexpr Command Replying(std::string_view names, Command row) {
  row.reply_names = names;
  return row;
}

// ACL categories and COMMAND DOCS groups, one for each family.
struct CommandFamily {
  std::string_view group;     // as COMMAND DOCS names it
  std::string_view category;  // as ACL CAT names it
  std::span<const Command> commands;
  bool native =
      false;  // tallyd's own: what is wrong with a call is reported with the command's usage
};

// The keys of a well-formed call, and what is done with each; false for wrong syntax.
bool FindKeys(const Command& command, Args args, std::vector<KeyReference>& keys);
// KeyFlags of the command's first key, or of the others.
uint16_t KeyUse(const Command& command, bool first);

constexpr bool ArityFits(const Command& command, size_t argc) {
  return command.arity >= 0 ? argc == static_cast<size_t>(command.arity)
                            : argc >= static_cast<size_t>(-command.arity);
}

}  // namespace tally::server
