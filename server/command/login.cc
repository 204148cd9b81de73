#include "server/command/login.h"

#include <memory>
#include <utility>

#include "server/command/acl_guard.h"

namespace tally::server {
namespace {

void Become(Client& client, std::shared_ptr<const AclUser> user) {
  client.user = user->name;
  client.acl = std::move(user);
}

}  // namespace

bool Login(CommandContext& context, std::string_view user, std::string_view password) {
  auto found = context.server.users.Authenticate(user, password);
  if (found == nullptr) {
    LogFailedLogin(context.server, context.client, context.args[0], user);
    return false;
  }
  Become(context.client, std::move(found));
  context.client.authenticated = true;
  return true;
}

void LoginAsDefault(AclUsers& users, Client& client) {
  const std::shared_ptr<AclUser>& user = users.default_user();
  client.authenticated = user->enabled && user->any_password;
  Become(client, user);
}

}  // namespace tally::server
