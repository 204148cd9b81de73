// What OBJECT, MEMORY USAGE and DEBUG OBJECT say of a key.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/keyspace/keyspace.h"

namespace tally::server {

// How the value is held.
std::string_view EncodingOf(const Keyspace::Entry& entry);

// Bytes of the key, its value and its place in the table. The last is an average.
size_t BytesOf(const Keyspace::Entry& entry);

}  // namespace tally::server
