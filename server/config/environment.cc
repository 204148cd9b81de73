#include "server/config/environment.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/config/directive.h"
#include "server/config/text_file.h"

namespace tally::server {
namespace {

constexpr char kPassword[] = "TALLYD_PASSWORD";
constexpr char kPasswordFile[] = "TALLYD_PASSWORD_FILE";

absl::Status AddPassword(std::string password, CommandLine& line) {
  const DirectiveWords same{"requirepass", password};
  for (const DirectiveWords& given : line.directives) {
    if (FindDirective(given[0]) != FindDirective(same[0]) || given == same) continue;
    return absl::InvalidArgumentError(StrCat("--requirepass wins over ", kPassword, " and ",
                                             kPasswordFile, ": give one of them"));
  }
  line.password = std::move(password);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddEnvironment(CommandLine& line) {
  const char* password = std::getenv(kPassword);
  const char* path = std::getenv(kPasswordFile);
  if (password != nullptr && path != nullptr) {
    return absl::InvalidArgumentError(
        StrCat("both ", kPassword, " and ", kPasswordFile, " are set: set one"));
  }
  // Empty, it would open to everybody a server that the configuration closes.
  if (password != nullptr && *password == '\0') {
    return absl::InvalidArgumentError(StrCat(kPassword, " is empty: set a password, or unset it"));
  }
  if (password != nullptr) return AddPassword(password, line);
  if (path == nullptr) return absl::OkStatus();
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return text.status();
  text->resize(std::min(text->size(), text->find_first_of("\r\n")));
  if (text->empty()) {
    return absl::InvalidArgumentError(StrCat(kPasswordFile, ": no password in ", path));
  }
  return AddPassword(*std::move(text), line);
}

}  // namespace tally::server
