// The operations that the keyspace needs for quota books (see ValueOperations).
#pragma once

#include "core/keyspace/value.h"

namespace tally {

const ValueOperations& QuotaOperations();

}  // namespace tally
