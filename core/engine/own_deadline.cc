#include "core/engine/own_deadline.h"

#include "core/hits/hits.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limit_state.h"

namespace tally {
namespace {

template <typename T>
int64_t EndOf(const Keyspace::Entry& entry) {
  T scratch;
  CompactValue<T> value(scratch);
  value.Take(entry);
  return value->ExpiresAt();
}

}  // namespace

int64_t OwnDeadline(const Keyspace::Entry& entry) {
  switch (entry.type()) {
    case Type::kHits:
      return EndOf<Hits>(entry);
    case Type::kLimit:
      return EndOf<LimitState>(entry);
    default:
      return kNoDeadline;
  }
}

}  // namespace tally
