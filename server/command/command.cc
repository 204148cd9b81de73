#include "server/command/command.h"

namespace tally::server {

bool FindKeys(const Command& command, Args args, std::vector<size_t>& indexes) {
  if (command.find_keys != nullptr) return command.find_keys(args, indexes);
  if (command.keys.first == 0) return true;
  const auto argc = static_cast<int>(args.size());
  const int last = command.keys.last < 0 ? argc + command.keys.last : command.keys.last;
  for (int i = command.keys.first; i <= last && i < argc; i += command.keys.step) {
    indexes.push_back(static_cast<size_t>(i));
  }
  return true;
}

}  // namespace tally::server
