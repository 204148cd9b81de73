// A command is a row: its name, handler and all that COMMAND, ACL and the dispatcher need to know.
// Each family's file in server/commands/ ends with its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tally::server {

class CommandContext;

using Args = std::span<const std::string_view>;
using Handler = void (*)(CommandContext& context);

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
};

// Where the keys stand among the arguments, as COMMAND tells it: a last of -1 is the last argument.
struct KeyRange {
  int first = 0;
  int last = 0;
  int step = 0;
};

// For commands whose keys no range describes: appends the keys' indexes; false for wrong syntax.
using KeyFinder = bool (*)(Args args, std::vector<size_t>& indexes);

struct Command {
  std::string_view name;  // lower case; a subcommand's is only its second word
  Handler handler = nullptr;
  int arity = 0;  // the name counts; negative: at least so many
  uint32_t flags = 0;
  KeyRange keys;
  std::string_view summary;
  std::string_view since;
  std::span<const Command> subcommands = {};
  KeyFinder find_keys = nullptr;
};

// ACL categories and COMMAND DOCS groups, one for each family.
struct CommandFamily {
  std::string_view group;     // as COMMAND DOCS names it
  std::string_view category;  // as ACL CAT names it
  std::span<const Command> commands;
};

// The indexes of the keys of a well-formed call; false for wrong syntax.
bool FindKeys(const Command& command, Args args, std::vector<size_t>& indexes);

constexpr bool ArityFits(const Command& command, size_t argc) {
  return command.arity >= 0 ? argc == static_cast<size_t>(command.arity)
                            : argc >= static_cast<size_t>(-command.arity);
}

}  // namespace tally::server
