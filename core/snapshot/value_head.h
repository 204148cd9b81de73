// What is known of a value before its runs.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/type.h"
#include "core/keyspace/keyspace_entry.h"

namespace tally {

struct ValueHead {
  size_t database = 0;
  std::string key;
  Type type = Type::kString;
  int64_t deadline_ms = kNoDeadline;
  size_t size = 0;  // bytes of a string; elements of another value
};

}  // namespace tally
