#include "server/acl/acl_file.h"

#include "core/bytes/str_cat.h"
#include "server/config/text_file.h"

namespace tally::server {

namespace {

absl::Status MakeUsers(const Config& config, AclUsers& users) {
  if (config.aclfile.empty()) {
    const std::string error = users.SetFromConfig(config.users);
    return error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(error);
  }
  if (!config.users.empty()) {
    return absl::InvalidArgumentError(
        "users are either in the configuration or in aclfile, not in both");
  }
  return LoadAclFile(config.aclfile, users);
}

}  // namespace

absl::Status LoadUsers(const Config& config, AclUsers& users) {
  absl::Status status = MakeUsers(config, users);
  if (!status.ok() || config.requirepass.empty()) return status;
  if (users.DefaultNeeds(config.requirepass)) return status;
  const std::string winner = config.aclfile.empty() ? std::string("the line 'user default'")
                                                    : StrCat("aclfile ", config.aclfile);
  return absl::InvalidArgumentError(StrCat(
      "requirepass (or TALLYD_PASSWORD) is set, but ", winner, " wins over it, and there the user ",
      "default ", users.DefaultNeedsPassword() ? "has another password" : "needs no password",
      ". Give the password in one place only"));
}

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
