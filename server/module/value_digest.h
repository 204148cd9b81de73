// Computes what DEBUG DIGEST says about a value. It depends only on the content, not on the order,
// tables and blocks in which the content is held, so that a primary and its replica can be
// compared.
#pragma once

#include "core/base/type.h"
#include "server/module/redis_module.h"
#include "server/module/stored_value.h"

namespace tally::module {

void DigestValue(redis::Digest* digest, Type type, StoredValue value);

}  // namespace tally::module
