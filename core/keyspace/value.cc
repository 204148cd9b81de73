#include "core/keyspace/value.h"

#include <algorithm>

#include "core/active/active_set.h"
#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/text.h"
#include "core/hash/hash.h"
#include "core/hits/hits.h"
#include "core/keyspace/quota_value.h"
#include "core/keyspace/value_row.h"
#include "core/limit/limit_state.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/zset/zset.h"

namespace tally {
namespace {

const Text& AsText(const void* value) { return *static_cast<const Text*>(value); }

constexpr ValueOperations kStringOperations = {
    .destroy = [](void* value) { delete static_cast<Text*>(value); },
    .free_some = [](void*, size_t) { return true; },
    .clone = [](const void* value) -> void* { return new Text(AsText(value).Clone()); },
    .weight = [](const void*) { return size_t{1}; },
    .memory_bytes =
        [](const void* value) { return HeapBytes(sizeof(Text)) + AsText(value).MemoryBytes(); },
    .encoding = [](const void*) { return std::string_view("raw"); },
    .save =
        [](const void* value, uint64_t cursor, size_t max_bytes, std::string& out) {
          const Text& text = AsText(value);
          const size_t end = std::min(text.size(), cursor + std::max<size_t>(max_bytes, 1));
          out.append(text.view(), cursor, end - cursor);
          return end == text.size() ? uint64_t{0} : uint64_t{end};
        },
    .create = [](uint64_t, ZoneSource&) -> void* { return new Text; },
    .load =
        [](void* value, std::string_view run) {
          static_cast<Text*>(value)->Append(run);
          return true;
        },
    .is_packed = [](std::string_view) { return true; },
};

constexpr ValueOperations kListOperations = RowOf<List>();
constexpr ValueOperations kHashOperations = RowOf<Hash>();
constexpr ValueOperations kSetOperations = RowOf<Set>();
constexpr ValueOperations kZSetOperations = RowOf<ZSet>();
constexpr ValueOperations kHitsOperations = RowOf<Hits>();
constexpr ValueOperations kLimitOperations = RowOf<LimitState>();
constexpr ValueOperations kActiveOperations = RowOf<ActiveSet>();

}  // namespace

const ValueOperations& OperationsOf(Type type) {
  switch (type) {
    case Type::kString:
      return kStringOperations;
    case Type::kList:
      return kListOperations;
    case Type::kHash:
      return kHashOperations;
    case Type::kSet:
      return kSetOperations;
    case Type::kZSet:
      return kZSetOperations;
    case Type::kQuota:
      return QuotaOperations();
    case Type::kHits:
      return kHitsOperations;
    case Type::kLimit:
      return kLimitOperations;
    case Type::kActive:
      return kActiveOperations;
    default:
      Check(false, "a type with heap values");
      return kStringOperations;
  }
}

}  // namespace tally
