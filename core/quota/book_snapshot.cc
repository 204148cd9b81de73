#include "core/quota/book_snapshot.h"

#include <algorithm>
#include <utility>

#include "core/bytes/recycle.h"
#include "core/bytes/varint.h"
#include "core/quota/entity_key.h"
#include "core/quota/large_user.h"
#include "core/quota/quota_run.h"
#include "core/quota/sku_parts.h"
#include "core/quota/text_dictionary.h"

namespace tally {
namespace {

// The kinds of the runs of BookTables, in the same order.
constexpr std::array<QuotaRun, 5> kTableKinds = {kTextsRun, kLimitsRun, kPartsRun, kUsersRun,
                                                 kChunksRun};

// The top 16 bits of a cursor are the index in BookTables plus 1; the low 48 bits are the cursor of
// that table.
constexpr int kTableShift = 48;
constexpr uint64_t kTableCursorMask = (uint64_t{1} << kTableShift) - 1;

// The number of records for one scan of a table. A scan looks at a whole segment, so a small number
// would be wasteful.
constexpr size_t kScanRecords = 256;

void AppendRecord(char kind, const RecordTable::Record& record, std::string& run) {
  const bool is_chunk = kind == kChunksRun;
  const std::string_view key = is_chunk            ? LargeUsers::UserOf(record.key())
                               : kind == kPartsRun ? PartedSkus::SkuOf(record.key())
                                                   : record.key();
  if (EntityKey::IsText(key)) [[unlikely]] {
    run.append(kQuotaTextMark);
    AppendLengthPrefixed(run, EntityKey::TextOf(key));
  } else {
    AppendSignedVarint(run, EntityKey::NumberOf(key));
  }
  if (is_chunk) AppendVarint(run, LargeUsers::NumberOf(record.key()));
  AppendLengthPrefixed(run, kind == kTextsRun ? TextDictionary::TextOf(record) : record.payload());
}

// Passes the run to the sink if it has more than its kind, and begins the next one with its kind.
void PassOn(std::string& run, const RunSink& sink) {
  const char kind = run.front();
  if (run.size() > 1) sink(run);
  // One large record must not keep its memory until the end.
  Recycle(run, 2 * kRunBytes);
  run.assign(1, kind);
}

// Appends records until about `max_bytes` bytes are appended; returns the table's next cursor.
uint64_t SaveRecords(char kind, const RecordTable& table, uint64_t cursor, size_t max_bytes,
                     std::string& out) {
  const size_t end = out.size() + max_bytes;
  do {
    cursor = table.Scan(cursor, kScanRecords, [&](const RecordTable::Record& record) {
      AppendRecord(kind, record, out);
    });
  } while (cursor != 0 && out.size() < end);
  return cursor;
}

}  // namespace

uint64_t SaveRun(const BookTables& tables, uint64_t cursor, size_t max_bytes, std::string& out) {
  size_t at = 0;
  uint64_t next = 0;
  if (cursor != 0) {
    at = (cursor >> kTableShift) - 1;
    out.push_back(kTableKinds[at]);
    next = SaveRecords(kTableKinds[at], *tables[at], cursor & kTableCursorMask, max_bytes, out);
    if (next == 0) ++at;
  }
  while (at < tables.size() && tables[at] == nullptr) ++at;
  return at == tables.size() ? 0 : (at + 1) << kTableShift | next;
}

BookSnapshot::BookSnapshot(uint64_t number, RunSink sink)
    : sink_(std::move(sink)),
      parts_{Part{TableSnapshot(number), {}}, Part{TableSnapshot(number), {}},
             Part{TableSnapshot(number), {}}, Part{TableSnapshot(number), {}},
             Part{TableSnapshot(number), {}}} {
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i].run.assign(1, kTableKinds[i]);
}

void BookSnapshot::SaveRecord(Part& part, const RecordTable::Record& record) {
  AppendRecord(part.run.front(), record, part.run);
  if (part.run.size() >= kRunBytes) PassOn(part.run, sink_);
}

void BookSnapshot::BeforeChange(const BookTables& tables, const RecordTable& table, uint64_t hash,
                                std::string_view key) {
  const auto at = std::find(tables.begin(), tables.end(), &table);
  Part& part = parts_[static_cast<size_t>(at - tables.begin())];
  part.records.BeforeChange(table, table.SegmentFor(hash), key, table.Find(key, hash),
                            [&](const RecordTable::Record& record) { SaveRecord(part, record); });
}

bool BookSnapshot::SaveNext(const BookTables& tables) {
  for (; next_ < parts_.size(); ++next_) {
    if (tables[next_] == nullptr) continue;
    Part& part = parts_[next_];
    const bool more = part.records.SaveNext(
        *tables[next_], [&](const RecordTable::Record& record) { SaveRecord(part, record); });
    if (more) return true;
    PassOn(part.run, sink_);
  }
  return false;
}

}  // namespace tally
