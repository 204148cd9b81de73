#include "server/module/call_context.h"

#include "server/module/module_api.h"

namespace tally::module {

bool UserMay(redis::Context* context, std::string_view key, uint16_t use) {
  const redis::Api& api = redis::Functions();
  redis::String* name = api.GetCurrentUserName(context);
  if (name == nullptr) return true;
  redis::User* user = api.GetModuleUserFromUserName(name);
  api.FreeString(context, name);
  // The user was deleted while connected.
  if (user == nullptr) return false;
  redis::String* text = api.CreateString(nullptr, key.data(), key.size());
  const bool may =
      api.ACLCheckKeyPermissions(user, text, use & redis::kKeyRightsMask) == redis::kOk;
  api.FreeString(nullptr, text);
  api.FreeModuleUser(user);
  return may;
}

}  // namespace tally::module
