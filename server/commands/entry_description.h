// What OBJECT, MEMORY USAGE and DEBUG OBJECT reply about a key.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/keyspace/keyspace.h"

namespace tally::server {

// How the value is held, as OBJECT ENCODING names it.
std::string_view EncodingOf(const Keyspace::Entry& entry);

// Bytes of the key, of its value and of its place in the table; the place is counted as an average.
size_t BytesOf(const Keyspace::Entry& entry);

}  // namespace tally::server
