#include "core/keyspace/value.h"

#include <algorithm>

#include "core/active/active_set.h"
#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/run_sink.h"
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

const List& AsList(const void* value) { return *static_cast<const List*>(value); }

constexpr ValueOperations kListOperations = {
    .destroy = [](void* value) { delete static_cast<List*>(value); },
    .free_some = [](void* value,
                    size_t budget) { return static_cast<List*>(value)->FreeSome(budget); },
    .clone = [](const void* value) -> void* { return new List(AsList(value).Clone()); },
    .weight = [](const void* value) { return AsList(value).size(); },
    .memory_bytes =
        [](const void* value) { return HeapBytes(sizeof(List)) + AsList(value).MemoryBytes(); },
    .encoding = [](const void* value) { return AsList(value).encoding(); },
    .save =
        [](const void* value, uint64_t cursor, size_t max_bytes, std::string& out) {
          const List& list = AsList(value);
          const size_t next = list.Save(cursor, max_bytes, out);
          return next == list.size() ? uint64_t{0} : uint64_t{next};
        },
    .create = [](uint64_t, ZoneSource&) -> void* { return new List; },
    .load = [](void* value, std::string_view run) { return static_cast<List*>(value)->Load(run); },
    .begin_snapshot =
        [](void* value, const RunSink& sink) {
          return static_cast<List*>(value)->BeginSnapshot(sink);
        },
    .save_snapshot = [](void* value) { return static_cast<List*>(value)->SaveSnapshot(); },
    .end_snapshot = [](void* value) { static_cast<List*>(value)->EndSnapshot(); },
};

// For a class whose Save has the cursors of ValueOperations::save: 0 begins and 0 ends.
template <typename T>
constexpr ValueOperations kContainerOperations = {
    .destroy = [](void* value) { delete static_cast<T*>(value); },
    .free_some = [](void* value,
                    size_t budget) { return static_cast<T*>(value)->FreeSome(budget); },
    .clone = [](const void* value) -> void* {
      return new T(static_cast<const T*>(value)->Clone());
    },
    .weight = [](const void* value) { return static_cast<const T*>(value)->size(); },
    .memory_bytes =
        [](const void* value) {
          return HeapBytes(sizeof(T)) + static_cast<const T*>(value)->MemoryBytes();
        },
    .encoding = [](const void* value) { return static_cast<const T*>(value)->encoding(); },
    .save =
        [](const void* value, uint64_t cursor, size_t max_bytes, std::string& out) {
          return static_cast<const T*>(value)->Save(cursor, max_bytes, out);
        },
    .create = [](uint64_t seed, ZoneSource&) -> void* { return new T(seed); },
    .load = [](void* value, std::string_view run) { return static_cast<T*>(value)->Load(run); },
    .begin_snapshot =
        [](void* value, const RunSink& sink) {
          return static_cast<T*>(value)->BeginSnapshot(sink);
        },
    .save_snapshot = [](void* value) { return static_cast<T*>(value)->SaveSnapshot(); },
    .end_snapshot = [](void* value) { static_cast<T*>(value)->EndSnapshot(); },
};

constexpr ValueOperations kHashOperations = [] {
  ValueOperations row = kContainerOperations<Hash>;
  row.is_packed = Hash::IsPacked;
  return row;
}();

const ZSet& AsZSet(const void* value) { return *static_cast<const ZSet*>(value); }

constexpr ValueOperations kZSetOperations = {
    .destroy = [](void* value) { delete static_cast<ZSet*>(value); },
    .free_some = [](void* value,
                    size_t budget) { return static_cast<ZSet*>(value)->FreeSome(budget); },
    .clone = [](const void* value) -> void* { return new ZSet(AsZSet(value).Clone({})); },
    .weight = [](const void* value) { return AsZSet(value).size(); },
    .memory_bytes =
        [](const void* value) { return HeapBytes(sizeof(ZSet)) + AsZSet(value).MemoryBytes(); },
    .encoding = [](const void* value) { return std::string_view(AsZSet(value).encoding()); },
    .save =
        [](const void* value, uint64_t cursor, size_t max_bytes, std::string& out) {
          const ZSet& set = AsZSet(value);
          const size_t next = set.Save(cursor, max_bytes, out);
          return next == set.size() ? uint64_t{0} : uint64_t{next};
        },
    .create = [](uint64_t seed, ZoneSource&) -> void* { return new ZSet(seed); },
    .load = [](void* value,
               std::string_view run) { return static_cast<ZSet*>(value)->Load(run, {}); },
    .begin_snapshot =
        [](void* value, const RunSink& sink) {
          return static_cast<ZSet*>(value)->BeginSnapshot(sink);
        },
    .save_snapshot = [](void* value) { return static_cast<ZSet*>(value)->SaveSnapshot(); },
    .end_snapshot = [](void* value) { static_cast<ZSet*>(value)->EndSnapshot(); },
};

constexpr ValueOperations kHitsOperations =
    RowOf<Hits>([](const void*) { return std::string_view("timelog"); });
constexpr ValueOperations kLimitOperations =
    RowOf<LimitState>([](const void*) { return std::string_view("counters"); });
constexpr ValueOperations kActiveOperations =
    RowOf<ActiveSet>([](const void*) { return std::string_view("dense"); });

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
      return kContainerOperations<Set>;
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
