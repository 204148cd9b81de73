#include "core/quota/book_loader.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "core/bytes/varint.h"
#include "core/quota/book_header.h"
#include "core/quota/book_limits.h"
#include "core/quota/entity_key.h"
#include "core/quota/large_store.h"
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

class BookLoader {
 public:
  explicit BookLoader(BookData& book) : book_(book) {}

  bool LoadTexts(std::string_view in);
  bool LoadLimits(std::string_view in);
  bool LoadParts(std::string_view in);
  bool LoadUsers(std::string_view in);
  bool LoadChunks(std::string_view in);

 private:
  [[nodiscard]] bool NoteLimits(std::string_view key, std::span<const LimitEntry> entries);
  bool LoadPart(std::string_view key, std::string_view block);
  bool LoadChunk(std::string_view key, uint32_t number, std::string_view block);
  bool LoadMarks(std::string_view key, uint32_t number, std::string_view block);

  BookData& book_;
};

bool BookLoader::LoadTexts(std::string_view in) {
  while (!in.empty()) {
    int64_t number = 0;
    std::string_view text;
    if (!ReadSignedVarint(in, number) || !ReadLengthPrefixed(in, text)) return false;
    if (number < 1 || number > TextDictionary::kMaxNumber) return false;
    if (text.size() > kMaxQuotaIdBytes || !book_.OpenTexts().Restore(number, text)) return false;
  }
  return true;
}

// Notes limits of a SKU that are loaded, those of one record.
bool BookLoader::NoteLimits(std::string_view key, std::span<const LimitEntry> entries) {
  if (!EntityKey::IsSku(key) || !book_.UseLoaded(EntityKey::SkuOf(key))) return false;
  for (const LimitEntry& entry : entries) {
    if (!book_.UseLoaded(entry.action)) return false;
    if (!entry.is_set) continue;
    book_.retention.Add(entry.window_ms);
    ++book_.limit_count;
  }
  return true;
}

bool BookLoader::LoadLimits(std::string_view in) {
  std::vector<LimitEntry> entries;
  std::vector<BookId> large;  // saved before SKUs had parts
  const bool loaded = InsertRecords(in, book_.limits, [&](const RecordTable::Record& record) {
    if (book_.FindParts(record.key()) != nullptr || !DecodeLimits(record.payload(), entries) ||
        !NoteLimits(record.key(), entries)) {
      return false;
    }
    book_.most_limits = std::max(book_.most_limits, entries.size());
    int64_t& due_ms = record.segment().due_ms;
    for (const LimitEntry& entry : entries) {
      if (entry.deletion) due_ms = std::min(due_ms, entry.deletion->until_ms);
    }
    if (entries.size() > SkuParts::kManyLimits) large.push_back(EntityKey::SkuOf(record.key()));
    return true;
  });
  for (const BookId sku : large) BookLimits(book_).Cut(sku);
  return loaded;
}

// The parts of a SKU come in any order, and no two have actions in the same range.
bool BookLoader::LoadPart(std::string_view key, std::string_view block) {
  std::vector<LimitEntry> entries;
  if (!DecodeLimits(block, entries) || !NoteLimits(key, entries)) return false;
  return BookLimits(book_).AddPart(EntityKey::SkuOf(key), entries);
}

bool BookLoader::LoadParts(std::string_view in) {
  while (!in.empty()) {
    const std::optional<EntityKey> key = ReadKey(in);
    std::string_view block;
    if (!key || !ReadLengthPrefixed(in, block) || book_.limits.Find(key->view())) return false;
    if (!LoadPart(key->view(), block)) return false;
  }
  return true;
}

bool BookLoader::LoadUsers(std::string_view in) {
  UserPurchases with_returns;
  return InsertRecords(in, book_.users, [&](const RecordTable::Record& record) {
    if (book_.FindLarge(record.key()) != nullptr) return false;
    size_t lines = 0;
    int64_t due_ms = record.segment().due_ms;
    PurchaseReader reader(record.payload());
    for (; reader.Next(); ++lines) {
      // Limits that are loaded later may make the retention longer (Retention::DueOf).
      const int64_t line_due_ms = reader.line().is_held() ? INT64_MIN : reader.line().ts_ms;
      due_ms = std::min(due_ms, line_due_ms);
      if (!book_.UseLoaded(reader.line().sku) || !book_.UseLoaded(reader.line().action))
        return false;
    }
    if (reader.malformed() || lines == 0) return false;
    book_.any_holds |= due_ms == INT64_MIN;
    book_.purchase_count += lines;
    record.segment().due_ms = due_ms;
    if (reader.rest().empty()) return true;
    if (!DecodePurchases(record.payload(), with_returns)) return false;
    return std::all_of(with_returns.returns.begin(), with_returns.returns.end(),
                       [&](const ReturnMark& mark) { return book_.UseLoaded(mark.sku); });
  });
}

bool BookLoader::LoadMarks(std::string_view key, uint32_t number, std::string_view block) {
  std::vector<ReturnMark> marks;
  if (!DecodeMarks(block, marks)) return false;
  LargeUser& user = book_.large->Add(key);
  if (user.mark_chunks.contains(number)) return false;
  for (const ReturnMark& mark : marks) {
    if (!book_.UseLoaded(mark.sku)) return false;
  }
  LargeStore(book_).PutMarks(key, user, number, marks);
  user.indexed = false;
  return true;
}

bool BookLoader::LoadChunk(std::string_view key, uint32_t number, std::string_view block) {
  UserPurchases purchases;
  // Returns are in chunks of their own.
  if (!DecodePurchases(block, purchases) || !purchases.returns.empty()) return false;
  const std::string chunk_key = LargeUsers::ChunkKey(key, number);
  if (book_.large->chunks.Find(chunk_key)) return false;
  for (const PurchaseLine& line : purchases.lines) {
    if (!book_.UseLoaded(line.sku) || !book_.UseLoaded(line.action)) return false;
    book_.any_holds |= line.is_held();
  }
  const RecordTable::Record record = book_.large->chunks.Insert(chunk_key, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  LargeUser& user = book_.large->Add(key);
  user.lines += purchases.lines.size();
  user.SetChunk(number, purchases.lines);
  user.indexed = false;
  book_.purchase_count += purchases.lines.size();
  return true;
}

bool BookLoader::LoadChunks(std::string_view in) {
  while (!in.empty()) {
    const std::optional<EntityKey> key = ReadKey(in);
    uint64_t number = 0;
    std::string_view block;
    if (!key || !ReadVarint(in, number) || !ReadLengthPrefixed(in, block) ||
        book_.users.Find(key->view())) {
      return false;
    }
    const bool are_marks = number >= LargeUser::kMarks;
    if ((are_marks ? number - LargeUser::kMarks : number) > LargeUser::kMostLoadedChunk)
      return false;
    const auto chunk = static_cast<uint32_t>(number);
    book_.OpenLarge();
    if (!(are_marks ? LoadMarks(key->view(), chunk, block)
                    : LoadChunk(key->view(), chunk, block))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool LoadRun(BookData& book, std::string_view run) {
  if (run.empty()) return false;
  const std::string_view in = run.substr(1);
  switch (run.front()) {
    case kHeaderRun:
      return LoadHeader(book, in);
    case kTextsRun:
      return BookLoader(book).LoadTexts(in);
    case kLimitsRun:
      return BookLoader(book).LoadLimits(in);
    case kPartsRun:
      return BookLoader(book).LoadParts(in);
    case kUsersRun:
      return BookLoader(book).LoadUsers(in);
    case kChunksRun:
      return BookLoader(book).LoadChunks(in);
    default:
      return false;
  }
}

}  // namespace tally
