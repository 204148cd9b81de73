// SCAN: the keys of a database, a few at a time.
#include <string>
#include <vector>

#include "server/arguments/scan_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

void Scan(CommandContext& context) {
  const auto cursor = CursorArg(context, 1);
  if (!cursor) return;
  ScanOptions options;
  if (!ParseScanOptions(context, 2, ScanTarget::kKeys, options)) return;
  ScanReply found(context);
  std::vector<std::string> due;
  const uint64_t next =
      context.keyspace().Scan(*cursor, options.count, [&](const Keyspace::Entry& entry) {
        if (!options.Matches(entry.key())) return;
        if (context.keyspace().HasExpired(entry, context.now_ms)) {
          due.emplace_back(entry.key());
          return;
        }
        if (options.type && !IsWord(*options.type, TypeName(entry.type()))) return;
        found.Add(entry.key());
      });
  for (const std::string& key : due) context.keyspace().ExpireIfDue(key, context.now_ms);
  found.Finish(next);
}

constexpr Command kScanCommands[] = {
    {"scan",
     Scan,
     -2,
     kReadOnly,
     {},
     "Iterates over the key names in the database.",
     "2.8.0",
     "cursor:int [MATCH pattern:pattern] [COUNT count:int] [TYPE type@6.0.0]"},
};

}  // namespace

std::span<const Command> ScanCommands() { return kScanCommands; }

}  // namespace tally::server
