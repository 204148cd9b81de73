#include "core/quota/book_data.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/quota/entity_key.h"

namespace tally {
namespace {

// A large block that grows is inserted anew, because only insertions split a segment that is full.
RecordTable::Record Replace(RecordTable& table, const RecordTable::Record& old,
                            std::string_view key, uint64_t hash, size_t size) {
  constexpr size_t kLarge = size_t{4} << 10;
  if (!old) return table.Insert(key, hash, size);
  if (size <= kLarge || size <= old.size()) return table.Resize(old, size);
  table.Erase(old);
  return table.Insert(key, hash, size);
}

void CopyRecords(const RecordTable& from, RecordTable& to) {
  uint64_t position = 0;
  while (RecordTable::Segment* segment = from.NextSegment(position)) {
    from.ForEach(*segment, [&](const RecordTable::Record& record) {
      const RecordTable::Record copy = to.Insert(record.key(), record.size());
      std::memcpy(copy.data(), record.data(), record.size());
      copy.segment().due_ms = std::min(copy.segment().due_ms, segment->due_ms);
    });
  }
}

}  // namespace

void LeaveDistinct(BookIds& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

BookActions BookData::Find(const QuotaActions& actions) const {
  if (actions.all()) return {};
  std::vector<BookId> listed;
  for (const QuotaId& action : actions.listed()) listed.push_back(Find(action));
  return BookActions(std::move(listed));
}

TextDictionary& BookData::OpenTexts() {
  if (texts == nullptr) texts = std::make_unique<TextDictionary>(seed);
  return *texts;
}

PartedSkus& BookData::OpenParts() {
  if (parted == nullptr) parted = std::make_unique<PartedSkus>(seed);
  return *parted;
}

LargeUsers& BookData::OpenLarge() {
  if (large == nullptr) large = std::make_unique<LargeUsers>(seed);
  return *large;
}

void BookData::BeforeTextChange(int64_t number) {
  const EntityKey key(number);
  const RecordTable& table = texts->table();
  BeforeChange(table, table.Hash(key.view()), key.view());
}

BookId BookData::FindOrAdd(const QuotaId& id) {
  const BookId known = Find(id);
  if (!known.is_text || known.value != 0) return known;
  const int64_t number = OpenTexts().next_number();
  BeforeTextChange(number);
  return {texts->Add(id.text()), true};
}

QuotaId BookData::NameOf(BookId id) const {
  return id.is_text ? QuotaId::Text(texts->TextOf(id.value)) : QuotaId(id.value);
}

void BookData::SortByName(BookIds& ids) const {
  const auto first_text =
      std::find_if(ids.begin(), ids.end(), [](const BookId& id) { return id.is_text; });
  std::sort(first_text, ids.end(),
            [this](const BookId& a, const BookId& b) { return NameOf(a) < NameOf(b); });
}

void BookData::ChangeUses(const TextUses& uses) {
  if (uses.empty()) [[likely]]
    return;
  for (const auto& [number, by] : uses.changes()) {
    if (by == 0) continue;
    BeforeTextChange(number);
    texts->ChangeUses(number, by);
  }
  // A snapshot still reads the tables that the book had when it began.
  if (texts->empty() && snapshot == nullptr) texts = nullptr;
}

bool BookData::UseLoaded(BookId id) {
  if (!id.is_text) return true;
  if (id.value < 1 || id.value > TextDictionary::kMaxNumber) return false;
  OpenTexts().ChangeUses(id.value, 1);
  return true;
}

RecordTable::Record BookData::Put(RecordTable& table, const RecordTable::Record& old,
                                  std::string_view key, uint64_t hash, std::string_view payload) {
  BeforeChange(table, hash, key);
  const RecordTable::Record record = Replace(table, old, key, hash, payload.size());
  std::memcpy(record.data(), payload.data(), payload.size());
  return record;
}

void BookData::Erase(RecordTable& table, std::string_view key) {
  const uint64_t hash = table.Hash(key);
  BeforeChange(table, hash, key);
  if (const RecordTable::Record record = table.Find(key, hash)) table.Erase(record);
}

BookTables BookData::tables() const {
  return {texts == nullptr ? nullptr : &texts->table(), &limits,
          parted == nullptr ? nullptr : &parted->parts, &users,
          large == nullptr ? nullptr : &large->chunks};
}

void BookData::BeginSnapshot(RunSink sink) {
  snapshot = std::make_unique<BookSnapshot>(++snapshots, std::move(sink));
}

bool BookData::SaveSnapshot() {
  if (snapshot != nullptr && snapshot->SaveNext(tables())) return true;
  snapshot = nullptr;
  return false;
}

size_t BookData::MemoryBytes() const {
  return sizeof(*this) + limits.MemoryBytes() + users.MemoryBytes() + retention.MemoryBytes() +
         (texts == nullptr ? 0 : texts->MemoryBytes()) +
         (parted == nullptr ? 0 : parted->MemoryBytes()) +
         (large == nullptr ? 0 : large->MemoryBytes());
}

bool BookData::FreeSome(size_t segments) {
  return users.FreeSome(segments) && limits.FreeSome(segments) &&
         (texts == nullptr || texts->FreeSome(segments)) &&
         (parted == nullptr || parted->FreeSome(segments)) &&
         (large == nullptr || large->FreeSome(segments));
}

std::unique_ptr<BookData> BookData::Clone() const {
  auto copy = std::make_unique<BookData>(seed, retention.minimum_ms());
  CopyRecords(limits, copy->limits);
  CopyRecords(users, copy->users);
  if (texts != nullptr) copy->texts = std::make_unique<TextDictionary>(texts->Clone(seed));
  if (parted != nullptr) {
    copy->parted = parted->Clone(seed);
    CopyRecords(parted->parts, copy->parted->parts);
  }
  if (large != nullptr) copy->large = large->Clone(seed);
  copy->limit_count = limit_count;
  copy->most_limits = most_limits;
  copy->purchase_count = purchase_count;
  copy->retention = retention;
  copy->recording = recording;
  copy->any_holds = any_holds;
  return copy;
}

}  // namespace tally
