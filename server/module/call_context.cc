#include "server/module/call_context.h"

#include "server/module/module_api.h"

namespace tally::module {
namespace {

// The user of a call.
class CallUser {
 public:
  explicit CallUser(redis::Context* context) {
    const redis::Api& api = redis::Functions();
    redis::String* name = api.GetCurrentUserName(context);
    is_known_ = name != nullptr;
    if (!is_known_) return;
    // Null if the user was deleted while connected.
    user_ = api.GetModuleUserFromUserName(name);
    api.FreeString(context, name);
  }
  ~CallUser() {
    if (user_ != nullptr) redis::Functions().FreeModuleUser(user_);
  }
  CallUser(const CallUser&) = delete;
  CallUser& operator=(const CallUser&) = delete;

  bool May(redis::String* name, uint16_t use) const {
    if (!is_known_) return true;
    return user_ != nullptr && redis::Functions().ACLCheckKeyPermissions(
                                   user_, name, use & redis::kKeyRightsMask) == redis::kOk;
  }
  redis::User* get() const { return user_; }

 private:
  bool is_known_ = false;
  redis::User* user_ = nullptr;
};

}  // namespace

bool UserMayUsePolicy(redis::Context* context, redis::String* name, uint16_t use) {
  const CallUser user(context);
  if (user.May(name, use)) return true;
  if (user.get() != nullptr) {
    redis::Functions().ACLAddLogEntry(context, user.get(), name, redis::kDeniedKey);
  }
  return false;
}

bool CallContext::MayRead(std::string_view key) const {
  const redis::Api& api = redis::Functions();
  redis::String* name = api.CreateString(nullptr, key.data(), key.size());
  const bool may = CallUser(context_).May(name, server::kReadsKey);
  api.FreeString(nullptr, name);
  return may;
}

}  // namespace tally::module
