// Snapshots of a QuotaBook.
//
// A run of a snapshot is one byte for its kind, then
//   header  signed varints: format, minimum retention in ms, the three fields of RecordingOrder,
//           then recorded_ms and horizon_ms of each entry of Retention::gone()
//   texts   for each text: signed varint of its number, length-prefixed text; there is no such run
//           if the book has no texts
//   limits  for each SKU: id, length-prefixed limit block
//   parts   of SKUs with many limits (sku_parts.h), for each: id of the SKU, length-prefixed limit
//           block; there is no such run if the book has no such SKUs
//   users   for each user: id, length-prefixed purchase block
//   chunks  of large users (large_user.h), for each: id of the user, varint of the chunk's number,
//           length-prefixed purchase block, or block of returns (return_marks.h) if the number is
//           LargeUser::kMarks or more; there is no such run if the book has no large users
// An id is the signed varint of an integer, or kTextMark and a length-prefixed text: the text of a
// user, or the packed number of a SKU's text.
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/recycle.h"
#include "core/bytes/run_sink.h"
#include "core/quota/quota_book.h"

namespace tally {
namespace {

enum RunKind : char {
  kHeaderRun = 'H',
  kTextsRun = 'T',
  kLimitsRun = 'L',
  kPartsRun = 'M',
  kUsersRun = 'U',
  kChunksRun = 'C'
};

// The kinds of the runs of Tables(), in the same order.
constexpr std::array<RunKind, 5> kTableKinds = {kTextsRun, kLimitsRun, kPartsRun, kUsersRun,
                                                kChunksRun};

// No varint begins with these bytes: they would be a zero that is longer than necessary.
constexpr std::string_view kTextMark("\x80\0", 2);

constexpr int64_t kFormat = 1;

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
    run.append(kTextMark);
    AppendLengthPrefixed(run, EntityKey::TextOf(key));
  } else {
    AppendSignedVarint(run, EntityKey::NumberOf(key));
  }
  if (is_chunk) AppendVarint(run, LargeUsers::NumberOf(record.key()));
  AppendLengthPrefixed(run, kind == kTextsRun ? TextDictionary::TextOf(record) : record.payload());
}

std::optional<EntityKey> ReadKey(std::string_view& run) {
  if (!run.starts_with(kTextMark)) [[likely]] {
    int64_t id = 0;
    if (!ReadSignedVarint(run, id)) return std::nullopt;
    return EntityKey(id);
  }
  run.remove_prefix(kTextMark.size());
  std::string_view text;
  if (!ReadLengthPrefixed(run, text) || text.size() > kMaxQuotaIdBytes) return std::nullopt;
  return EntityKey(QuotaId::Text(text));
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

// Inserts the records of a run into the table and calls `note` for each; `note` returns false for a
// malformed block. Handles several records at a time, so that their cache misses overlap. Returns
// false if the run is malformed, or a record is already in the table.
template <typename Note>
bool InsertRecords(std::string_view run, RecordTable& table, Note&& note) {
  struct Arrival {
    EntityKey key;
    uint64_t hash;
    std::string_view block;
  };
  constexpr size_t kAtOnce = 16;
  absl::InlinedVector<Arrival, kAtOnce> arrivals;
  while (!run.empty()) {
    arrivals.clear();
    while (arrivals.size() < kAtOnce && !run.empty()) {
      const std::optional<EntityKey> key = ReadKey(run);
      std::string_view block;
      if (!key || !ReadLengthPrefixed(run, block)) return false;
      arrivals.push_back({*key, table.Hash(key->view()), block});
      table.PrefetchSegment(arrivals.back().hash);
    }
    for (const Arrival& arrival : arrivals) table.PrefetchInsertion(arrival.hash);
    for (const auto& [key, hash, block] : arrivals) {
      if (table.Find(key.view(), hash)) return false;
      const RecordTable::Record record = table.Insert(key.view(), hash, block.size());
      std::memcpy(record.data(), block.data(), block.size());
      if (!note(record)) return false;
    }
  }
  return true;
}

}  // namespace

void QuotaBook::SaveHeader(std::string& out) const {
  out.push_back(kHeaderRun);
  for (const int64_t value : {kFormat, retention_.minimum_ms(), recording_.latest_mark_ms,
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
  const auto part = [&](RunKind kind) { return Snapshot::Part{records, std::string(1, kind)}; };
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

bool QuotaBook::Load(std::string_view run) {
  if (run.empty()) return false;
  const std::string_view in = run.substr(1);
  switch (run.front()) {
    case kHeaderRun:
      return LoadHeader(in);
    case kTextsRun:
      return LoadTexts(in);
    case kLimitsRun:
      return LoadLimits(in);
    case kPartsRun:
      return LoadParts(in);
    case kUsersRun:
      return LoadUsers(in);
    case kChunksRun:
      return LoadChunks(in);
    default:
      return false;
  }
}

bool QuotaBook::LoadHeader(std::string_view in) {
  int64_t format = 0;
  if (!ReadSignedVarint(in, format) || format != kFormat) return false;
  int64_t min_retention_ms = 0;
  if (!ReadSignedVarint(in, min_retention_ms) || min_retention_ms <= 0) return false;
  retention_.set_minimum_ms(min_retention_ms);
  if (!ReadSignedVarint(in, recording_.latest_mark_ms) ||
      !ReadSignedVarint(in, recording_.latest_stamp_ms) ||
      !ReadSignedVarint(in, recording_.latest_future_ms)) {
    return false;
  }
  std::vector<Retention::Gone> all_gone;
  while (!in.empty()) {
    Retention::Gone& gone = all_gone.emplace_back();
    if (!ReadSignedVarint(in, gone.recorded_ms) || !ReadSignedVarint(in, gone.horizon_ms)) {
      return false;
    }
  }
  return retention_.set_gone(std::move(all_gone));
}

bool QuotaBook::LoadTexts(std::string_view in) {
  while (!in.empty()) {
    int64_t number = 0;
    std::string_view text;
    if (!ReadSignedVarint(in, number) || !ReadLengthPrefixed(in, text)) return false;
    if (number < 1 || number > TextDictionary::kMaxNumber) return false;
    if (text.size() > kMaxQuotaIdBytes || !Texts().Restore(number, text)) return false;
  }
  return true;
}

// Notes limits of a SKU that are loaded, those of one record.
bool QuotaBook::NoteLoaded(std::string_view key, std::span<const LimitEntry> entries) {
  if (!EntityKey::IsSku(key) || !UseLoaded(EntityKey::SkuOf(key))) return false;
  for (const LimitEntry& entry : entries) {
    if (!UseLoaded(entry.action)) return false;
    if (!entry.is_set) continue;
    retention_.Add(entry.window_ms);
    ++limit_count_;
  }
  return true;
}

bool QuotaBook::LoadLimits(std::string_view in) {
  std::vector<LimitEntry> entries;
  std::vector<BookId> large;  // saved before SKUs had parts
  const bool loaded = InsertRecords(in, limits_, [&](const RecordTable::Record& record) {
    if (FindParts(record.key()) != nullptr || !DecodeLimits(record.payload(), entries) ||
        !NoteLoaded(record.key(), entries)) {
      return false;
    }
    most_limits_ = std::max(most_limits_, entries.size());
    int64_t& due = record.segment().due;
    for (const LimitEntry& entry : entries) {
      if (entry.deletion) due = std::min(due, entry.deletion->until_ms);
    }
    if (entries.size() > SkuParts::kManyLimits) large.push_back(EntityKey::SkuOf(record.key()));
    return true;
  });
  for (const BookId sku : large) Store(Open(sku, kNoAction));
  return loaded;
}

bool QuotaBook::LoadParts(std::string_view in) {
  while (!in.empty()) {
    const std::optional<EntityKey> key = ReadKey(in);
    std::string_view block;
    if (!key || !ReadLengthPrefixed(in, block) || limits_.Find(key->view())) return false;
    if (!LoadPart(key->view(), block)) return false;
  }
  return true;
}

// The parts of a SKU come in any order, and no two have actions in the same range.
bool QuotaBook::LoadPart(std::string_view key, std::string_view block) {
  std::vector<LimitEntry> entries;
  if (!DecodeLimits(block, entries) || !NoteLoaded(key, entries)) return false;
  const BookId sku = EntityKey::SkuOf(key);
  const BookId first = entries.front().action;
  if (const SkuParts* parts = FindParts(key)) {
    const BookId before = parts->PartOf(first);
    if (before <= first && ReadPart(sku, before).back().action >= first) return false;
    const std::optional<BookId> next = parts->After(first);
    if (next && *next <= entries.back().action) return false;
  }
  // The texts are counted already.
  TextUses uses;
  PutParts(sku, entries, entries.size(), uses);
  return true;
}

bool QuotaBook::LoadUsers(std::string_view in) {
  UserPurchases with_returns;
  return InsertRecords(in, users_, [&](const RecordTable::Record& record) {
    if (FindLarge(record.key()) != nullptr) return false;
    size_t lines = 0;
    int64_t due = record.segment().due;
    PurchaseReader reader(record.payload());
    for (; reader.Next(); ++lines) {
      due = std::min(due, reader.line().ts_ms);
      if (!UseLoaded(reader.line().sku) || !UseLoaded(reader.line().action)) return false;
    }
    if (reader.malformed() || lines == 0) return false;
    purchase_count_ += lines;
    record.segment().due = due;
    if (reader.rest().empty()) return true;
    if (!DecodePurchases(record.payload(), with_returns)) return false;
    return std::all_of(with_returns.returns.begin(), with_returns.returns.end(),
                       [&](const ReturnMark& mark) { return UseLoaded(mark.sku); });
  });
}

bool QuotaBook::LoadChunks(std::string_view in) {
  while (!in.empty()) {
    const std::optional<EntityKey> key = ReadKey(in);
    uint64_t number = 0;
    std::string_view block;
    if (!key || !ReadVarint(in, number) || !ReadLengthPrefixed(in, block) ||
        users_.Find(key->view())) {
      return false;
    }
    const bool are_marks = number >= LargeUser::kMarks;
    if ((are_marks ? number - LargeUser::kMarks : number) > LargeUser::kMostLoadedChunk)
      return false;
    const auto chunk = static_cast<uint32_t>(number);
    if (large_ == nullptr) large_ = std::make_unique<LargeUsers>(seed_);
    if (!(are_marks ? LoadMarks(key->view(), chunk, block)
                    : LoadChunk(key->view(), chunk, block))) {
      return false;
    }
  }
  return true;
}

bool QuotaBook::LoadMarks(std::string_view key, uint32_t number, std::string_view block) {
  std::vector<ReturnMark> marks;
  if (!DecodeMarks(block, marks)) return false;
  LargeUser& user = large_->Add(key);
  if (user.mark_chunks.contains(number)) return false;
  for (const ReturnMark& mark : marks) {
    if (!UseLoaded(mark.sku)) return false;
  }
  PutMarks(key, user, number, marks);
  user.indexed = false;
  return true;
}

bool QuotaBook::LoadChunk(std::string_view key, uint32_t number, std::string_view block) {
  UserPurchases purchases;
  // Returns are in chunks of their own.
  if (!DecodePurchases(block, purchases) || !purchases.returns.empty()) return false;
  const std::string chunk_key = LargeUsers::ChunkKey(key, number);
  if (large_->chunks.Find(chunk_key)) return false;
  int64_t earliest_ms = purchases.lines.front().ts_ms;
  for (const PurchaseLine& line : purchases.lines) {
    if (!UseLoaded(line.sku) || !UseLoaded(line.action)) return false;
    earliest_ms = std::min(earliest_ms, line.ts_ms);
  }
  const RecordTable::Record record = large_->chunks.Insert(chunk_key, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  LargeUser& user = large_->Add(key);
  user.lines += purchases.lines.size();
  user.SetEarliest(number, earliest_ms);
  user.indexed = false;
  purchase_count_ += purchases.lines.size();
  return true;
}

}  // namespace tally
