// What DEBUG DIGEST says of a value: the same for the same content, in whatever order, tables and
// blocks it is held, so that a primary and its replica can be compared.
#pragma once

#include "core/base/type.h"
#include "server/module/redis_module.h"
#include "server/module/stored_value.h"

namespace tally::module {

void DigestValue(redis::Digest* digest, Type type, StoredValue value);

}  // namespace tally::module
