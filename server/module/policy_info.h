// The module's part of INFO: the release, and the number and the digest of the policies.
#pragma once

#include "server/module/redis_module.h"

namespace tally::module {

// Returns false if the server refuses.
bool RegisterPolicyInfo(redis::Context* context);

}  // namespace tally::module
