#include "core/keyspace/quota_value.h"

#include <utility>

#include "core/bytes/run_sink.h"
#include "core/quota/quota_book.h"

namespace tally {
namespace {

QuotaBook& AsBook(void* value) { return *static_cast<QuotaBook*>(value); }
const QuotaBook& AsBook(const void* value) { return *static_cast<const QuotaBook*>(value); }

// Freeing a segment of users or SKUs as a whole takes as long as freeing this many elements.
constexpr size_t kFreedAsASegment = 64;

constexpr ValueOperations kQuotaOperations = {
    .destroy = [](void* value) { delete &AsBook(value); },
    .free_some =
        [](void* value, size_t budget) {
          return AsBook(value).FreeSome(budget / kFreedAsASegment + 1);
        },
    .clone = [](const void* value) -> void* { return new QuotaBook(AsBook(value).Clone()); },
    .weight =
        [](const void* value) {
          const QuotaBook::Stats stats = AsBook(value).stats();
          // Sixteen purchases of a large user take as long as a small user.
          return stats.users + stats.limits + stats.purchases / 16 + 1;
        },
    .memory_bytes = [](const void* value) { return AsBook(value).MemoryBytes(); },
    .encoding = [](const void*) { return std::string_view("packed"); },
    .save = [](const void* value, uint64_t cursor, size_t max_bytes,
               std::string& out) { return AsBook(value).Save(cursor, max_bytes, out); },
    .create = [](uint64_t seed, ZoneSource&) -> void* { return new QuotaBook(seed); },
    .load = [](void* value, std::string_view run) { return AsBook(value).Load(run); },
    .sweep =
        [](void* value, int64_t now_ms, size_t budget, QuotaExpired& expired) {
          AsBook(value).SetRetentionLag(0);  // `now_ms` has it
          AsBook(value).ExpireSome(now_ms, budget, &expired);
          return AsBook(value).Empty();
        },
    .prepare = [](void* value) { return AsBook(value).PrepareNext(); },
    .begin_snapshot =
        [](void* value, const RunSink& sink) {
          AsBook(value).BeginSnapshot(sink);
          return true;
        },
    .save_snapshot = [](void* value) { return AsBook(value).SaveSnapshot(); },
    .end_snapshot = [](void* value) { AsBook(value).EndSnapshot(); },
};

}  // namespace

const ValueOperations& QuotaOperations() { return kQuotaOperations; }

}  // namespace tally
