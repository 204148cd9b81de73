// Saves a QuotaBook: its runs one after the other, or a snapshot while it changes.
#include <utility>

#include "core/bytes/recycle.h"
#include "core/bytes/run_sink.h"
#include "core/quota/quota_book.h"
#include "core/quota/quota_run.h"

namespace tally {
namespace {

// The kinds of the runs of Tables(), in the same order.
constexpr std::array<QuotaRun, 5> kTableKinds = {kTextsRun, kLimitsRun, kPartsRun, kUsersRun,
                                                 kChunksRun};

// The top 16 bits of a cursor are the index in Tables() plus 1; the low 48 bits are the cursor of
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

void QuotaBook::SaveHeader(std::string& out) const {
  out.push_back(kHeaderRun);
  for (const int64_t value : {kQuotaFormat, retention_.minimum_ms(), recording_.latest_mark_ms,
                              recording_.latest_stamp_ms, recording_.latest_future_ms}) {
    AppendSignedVarint(out, value);
  }
  for (const Retention::Gone& gone : retention_.gone()) {
    AppendSignedVarint(out, gone.recorded_ms);
    AppendSignedVarint(out, gone.horizon_ms);
  }
}

std::array<const RecordTable*, 5> QuotaBook::Tables() const {
  return {texts_ == nullptr ? nullptr : &texts_->table(), &limits_,
          parted_ == nullptr ? nullptr : &parted_->parts, &users_,
          large_ == nullptr ? nullptr : &large_->chunks};
}

uint64_t QuotaBook::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  const auto tables = Tables();
  size_t at = 0;
  uint64_t next = 0;
  if (cursor == 0) {
    SaveHeader(out);
  } else {
    at = (cursor >> kTableShift) - 1;
    out.push_back(kTableKinds[at]);
    next = SaveRecords(kTableKinds[at], *tables[at], cursor & kTableCursorMask, max_bytes, out);
    if (next == 0) ++at;
  }
  while (at < tables.size() && tables[at] == nullptr) ++at;
  return at == tables.size() ? 0 : (at + 1) << kTableShift | next;
}

void QuotaBook::BeginSnapshot(RunSink sink) {
  const TableSnapshot records(++snapshots_);
  const auto part = [&](QuotaRun kind) { return Snapshot::Part{records, std::string(1, kind)}; };
  snapshot_ = std::make_unique<Snapshot>(
      Snapshot{.sink = std::move(sink),
               .epoch = records.epoch(),
               .parts = {part(kTextsRun), part(kLimitsRun), part(kPartsRun), part(kUsersRun),
                         part(kChunksRun)}});
  std::string header;
  SaveHeader(header);
  snapshot_->sink(header);
}

QuotaBook::Snapshot::Part& QuotaBook::PartOf(const RecordTable& table) {
  if (&table == &users_) return snapshot_->parts[3];
  if (large_ != nullptr && &table == &large_->chunks) return snapshot_->parts[4];
  if (parted_ != nullptr && &table == &parted_->parts) return snapshot_->parts[2];
  return snapshot_->parts[&table == &limits_ ? 1 : 0];
}

void QuotaBook::SaveRecord(Snapshot::Part& part, const RecordTable::Record& record) {
  AppendRecord(part.run.front(), record, part.run);
  if (part.run.size() >= kRunBytes) PassOn(part.run, snapshot_->sink);
}

void QuotaBook::SaveBeforeChange(const RecordTable& table, uint64_t hash, std::string_view key) {
  Snapshot::Part& part = PartOf(table);
  part.records.BeforeChange(table, table.SegmentFor(hash), key, table.Find(key, hash),
                            [&](const RecordTable::Record& record) { SaveRecord(part, record); });
}

bool QuotaBook::SaveSnapshot() {
  for (; snapshot_ != nullptr && snapshot_->next < snapshot_->parts.size(); ++snapshot_->next) {
    Snapshot::Part& part = snapshot_->parts[snapshot_->next];
    const RecordTable* table = Tables()[snapshot_->next];
    if (table == nullptr) continue;
    const bool more = part.records.SaveNext(
        *table, [&](const RecordTable::Record& record) { SaveRecord(part, record); });
    if (more) return true;
    PassOn(part.run, snapshot_->sink);
  }
  snapshot_ = nullptr;
  return false;
}

}  // namespace tally
