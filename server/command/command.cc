#include "server/command/command.h"

#include <cstdlib>

#include "server/command/missing_keys.h"

namespace tally::server {
namespace {

int LastKey(const KeyRange& range, Args args) {
  return range.last < 0 ? static_cast<int>(args.size()) + range.last : range.last;
}

void AddRange(const KeyRange& range, Args args, std::vector<KeyReference>& keys) {
  const auto argc = static_cast<int>(args.size());
  const int last = LastKey(range, args);
  for (int i = range.first; i <= last && i < argc; i += range.step) {
    keys.push_back({static_cast<size_t>(i)});
  }
}

}  // namespace

bool LacksKeys(const KeyRange& range, Args args) {
  const int last = LastKey(range, args);
  const bool lacks_second = range.others_use != 0 && last < range.first + range.step;
  return lacks_second || last >= static_cast<int>(args.size());
}

// A call may have too few words, since redis.acl_check_cmd accepts any. Its keys are then those of
// the row's range, if none of them is missing.
bool FindKeys(const Command& command, Args args, std::vector<KeyReference>& keys) {
  if (command.keys.use == kNotKey) return true;
  const bool is_short = args.size() < static_cast<size_t>(std::abs(command.arity));
  if (is_short && LacksKeys(command.keys, args)) return false;
  if (command.find_keys != nullptr && !is_short) {
    if (!command.find_keys(args, keys)) return false;
  } else if (command.keys.first != 0) {
    AddRange(command.keys, args, keys);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].use == 0) keys[i].use = KeyUse(command, i == 0);
  }
  return true;
}

uint16_t KeyUse(const Command& command, bool first) {
  const KeyRange& keys = command.keys;
  if (!first && keys.others_use != 0) return keys.others_use;
  if (keys.use != 0) return keys.use;
  return (command.flags & kWrite) != 0 ? kChangesKey : kReadsKey;
}

}  // namespace tally::server
