#include "server/config/environment.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/config/text_file.h"

namespace tally::server {
namespace {

constexpr char kPassword[] = "TALLYD_PASSWORD";
constexpr char kPasswordFile[] = "TALLYD_PASSWORD_FILE";

void AddPassword(std::string password, CommandLine& line) {
  line.directives.insert(line.directives.begin(), {"requirepass", std::move(password)});
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
  if (password != nullptr) AddPassword(password, line);
  if (path == nullptr) return absl::OkStatus();
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return text.status();
  text->resize(std::min(text->size(), text->find_first_of("\r\n")));
  if (text->empty()) {
    return absl::InvalidArgumentError(StrCat(kPasswordFile, ": no password in ", path));
  }
  AddPassword(*std::move(text), line);
  return absl::OkStatus();
}

}  // namespace tally::server
