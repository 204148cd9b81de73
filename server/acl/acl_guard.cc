#include "server/acl/acl_guard.h"

#include <memory>
#include <string>
#include <utility>

#include "server/state/client_text.h"

namespace tally::server {
namespace {

void Become(Client& client, std::shared_ptr<const AclUser> user) {
  client.user = user->name;
  client.acl = std::move(user);
}

}  // namespace

void AclGuard::AddToLog(const Client& client, std::string_view reason, std::string_view place,
                        std::string_view object, std::string_view user) {
  AclLog::Entry entry;
  entry.reason = reason;
  entry.place = place;
  entry.object = object;
  entry.user = user;
  entry.created_ms = clock_.elapsed_ms();
  AppendClientLine(entry.client, client, entry.created_ms);
  if (entry.client.ends_with('\n')) entry.client.pop_back();
  log_.Add(std::move(entry), static_cast<size_t>(config_.acllog_max_len));
}

AclVerdict AclGuard::Check(const Client& client, const CommandEntry& entry, Args args,
                           std::string_view place) {
  if (client.acl == nullptr || client.acl->unrestricted) return {};
  const AclVerdict verdict = CheckCall(*client.acl, entry, args);
  if (verdict.denial != AclDenial::kNone) {
    AddToLog(client, WordsOf(verdict.denial).kind, place, verdict.object, client.user);
  }
  return verdict;
}

bool AclGuard::Login(Client& client, std::string_view command, std::string_view user,
                     std::string_view password) {
  auto found = users_.Authenticate(user, password);
  if (found == nullptr) {
    AddToLog(client, "auth", client.transaction.active ? "multi" : "toplevel", command, user);
    return false;
  }
  Become(client, std::move(found));
  client.authenticated = true;
  return true;
}

void LoginAsDefault(AclUsers& users, Client& client) {
  const std::shared_ptr<AclUser>& user = users.default_user();
  client.authenticated = user->enabled && user->any_password;
  Become(client, user);
}

}  // namespace tally::server
