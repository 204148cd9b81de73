#include "server/acl/acl_file.h"

#include "core/bytes/str_cat.h"
#include "server/config/text_file.h"

namespace tally::server {

absl::Status LoadAclFile(const std::string& path, AclUsers& users) {
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        StrCat("Error loading ACLs, ", std::string(text.status().message())));
  }
  const std::string errors = users.Load(*text, path);
  return errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(errors);
}

absl::Status SaveAclFile(const std::string& path, AclUsers& users) {
  return ReplaceTextFile(path, users.Text());
}

}  // namespace tally::server
