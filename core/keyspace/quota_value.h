// What the keyspace asks of quota books.
#pragma once

#include "core/keyspace/value.h"

namespace tally {

const ValueOperations& QuotaOperations();

}  // namespace tally
