// The deadline that a key has from its own value.
#pragma once

#include <cstdint>

#include "core/keyspace/keyspace.h"

namespace tally {

// HITS and LIMIT keys end when nothing in them can count any more, whatever a user sets beside
// that. Returns kNoDeadline for all other types. The entry must exist. Costs as decoding the value.
int64_t OwnDeadline(const Keyspace::Entry& entry);

}  // namespace tally
