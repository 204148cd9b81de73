// Loads the runs of a QuotaBook.
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/quota/quota_book.h"
#include "core/quota/quota_run.h"

namespace tally {
namespace {

std::optional<EntityKey> ReadKey(std::string_view& run) {
  if (!run.starts_with(kQuotaTextMark)) [[likely]] {
    int64_t id = 0;
    if (!ReadSignedVarint(run, id)) return std::nullopt;
    return EntityKey(id);
  }
  run.remove_prefix(kQuotaTextMark.size());
  std::string_view text;
  if (!ReadLengthPrefixed(run, text) || text.size() > kMaxQuotaIdBytes) return std::nullopt;
  return EntityKey(QuotaId::Text(text));
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
  if (!ReadSignedVarint(in, format) || format != kQuotaFormat) return false;
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
      // Limits that are loaded later may make the retention longer (Retention::DueOf).
      const int64_t line_due = reader.line().is_held() ? INT64_MIN : reader.line().ts_ms;
      due = std::min(due, line_due);
      if (!UseLoaded(reader.line().sku) || !UseLoaded(reader.line().action)) return false;
    }
    if (reader.malformed() || lines == 0) return false;
    any_holds_ |= due == INT64_MIN;
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
  for (const PurchaseLine& line : purchases.lines) {
    if (!UseLoaded(line.sku) || !UseLoaded(line.action)) return false;
    any_holds_ |= line.is_held();
  }
  const RecordTable::Record record = large_->chunks.Insert(chunk_key, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  LargeUser& user = large_->Add(key);
  user.lines += purchases.lines.size();
  user.SetChunk(number, purchases.lines);
  user.indexed = false;
  purchase_count_ += purchases.lines.size();
  return true;
}

}  // namespace tally
