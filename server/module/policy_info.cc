#include "server/module/policy_info.h"

#include "core/limit/policy_table.h"
#include "server/module/module.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

// The server puts "tally_" before each name.
void AppendInfo(redis::InfoContext* info, int) {
  const redis::Api& api = redis::Functions();
  const PolicyTable& policies = TheModule().engine().policies();
  api.InfoAddSection(info, nullptr);
  api.InfoAddFieldCString(info, "release", TALLYD_VERSION);
  api.InfoAddFieldULongLong(info, "policies", policies.size());
  api.InfoAddFieldCString(info, "policies_digest", policies.DigestText().c_str());
}

}  // namespace

bool RegisterPolicyInfo(redis::Context* context) {
  return redis::Functions().RegisterInfoFunc(context, AppendInfo) == redis::kOk;
}

}  // namespace tally::module
