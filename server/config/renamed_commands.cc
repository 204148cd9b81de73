#include "server/config/renamed_commands.h"

#include <string>

#include "core/bytes/str_cat.h"
#include "server/resp/split_args.h"

namespace tally::server {

absl::Status RenameCommands(const Config& config, CommandTable& commands) {
  for (const std::string& line : config.renamed_commands) {
    const auto words = SplitArgs(line);
    const absl::Status status = words && words->size() == 2
                                    ? commands.Rename((*words)[0], (*words)[1])
                                    : absl::InvalidArgumentError("it takes a command and a name");
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          StrCat("rename-command ", line, ": ", std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace tally::server
