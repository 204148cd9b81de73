#include "server/http/http_login.h"

#include <absl/strings/escaping.h>

#include <optional>
#include <string_view>
#include <utility>

#include "core/words/word.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_users.h"

namespace tally::server {
namespace {

// ACL LOG shows this word as the object of a failed login.
constexpr std::string_view kPlace = "http";

struct Credentials {
  std::string user;
  std::string password;
};

Credentials SplitAtColon(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(kDefaultUser), std::string(text)};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

std::optional<Credentials> ParseCredentials(std::string_view header) {
  const size_t blank = header.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view scheme = header.substr(0, blank);
  const std::string_view text = header.substr(header.find_first_not_of(' ', blank));
  if (IsWord(scheme, "bearer")) return SplitAtColon(text);
  std::string decoded;
  const bool is_basic = IsWord(scheme, "basic") &&
                        absl::Base64Unescape({text.data(), text.size()}, &decoded) &&
                        decoded.find(':') != std::string::npos;
  return is_basic ? std::optional(SplitAtColon(decoded)) : std::nullopt;
}

}  // namespace

bool HttpLogin::outdated(const Services& server) const {
  return server.users.version() != version_;
}

bool HttpLogin::Renew(const Services& server, Client& client) {
  return Login(server, client, std::string(accepted_));
}

bool HttpLogin::Login(const Services& server, Client& client, std::string_view header) {
  const uint64_t version = server.users.version();
  if (client.authenticated && header == accepted_ && version == version_) return true;
  client.authenticated = false;
  if (header.empty()) {
    LoginAsDefault(server.users, client);
  } else if (const auto credentials = ParseCredentials(header)) {
    server.guard.Login(client, kPlace, credentials->user, credentials->password);
  }
  accepted_ = header;
  version_ = version;
  return client.authenticated;
}

}  // namespace tally::server
