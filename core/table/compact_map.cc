#include "core/table/compact_map.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/compact_text.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"
#include "core/table/compact_map_table.h"

namespace tally {
namespace {

// FreeSome counts a segment of a table as this many elements. A full one holds up to 896 records,
// but freeing it takes only a few calls to the allocator.
constexpr size_t kElementsOfASegment = 256;

// If more than 1 / kFewAreOneIn of all elements are wanted, distinct elements are chosen in one
// pass over all: choosing a single element costs a pass over half a segment.
constexpr size_t kFewAreOneIn = 100;

}  // namespace

CompactMap::CompactMap(uint64_t seed, Shape shape) : seed_(seed), shape_(shape) {}
CompactMap::CompactMap(CompactMap&&) noexcept = default;
CompactMap& CompactMap::operator=(CompactMap&&) noexcept = default;
CompactMap::~CompactMap() = default;

size_t CompactMap::size() const { return packed() ? cells_.size() / stride() : table_->size(); }

CompactMap CompactMap::Clone() const {
  CompactMap copy(seed_, shape_);
  copy.cells_ = cells_.Clone();
  if (!packed()) {
    copy.table_ = std::make_unique<Table>(seed_);
    table_->ForEach([&](const RecordTable::Record& record) {
      const RecordTable::Record place = copy.table_->Insert(record.key(), record.size());
      record.payload().copy(place.data(), record.size());
    });
  }
  return copy;
}

bool CompactMap::AssignPacked(std::string_view contents) {
  table_ = nullptr;
  if (!cells_.Assign(contents)) return false;
  if (cells_.size() % stride() == 0) return true;
  cells_.Clear();
  return false;
}

std::string_view CompactMap::ValueAt(PackedCells::Position key) const {
  return shape_ == Shape::kPairs ? cells_.At(cells_.Next(key)) : std::string_view();
}

std::optional<ElementView> CompactMap::Find(std::string_view key) const {
  if (packed()) {
    const PackedCells::Position place = cells_.Find(key, stride());
    if (place == PackedCells::kNone) return std::nullopt;
    return ValueAt(place);
  }
  const RecordTable::Record record = table_->Find(key);
  if (!record) return std::nullopt;
  return record.element();
}

std::span<char> CompactMap::FindMutable(std::string_view key) {
  if (packed()) {
    const PackedCells::Position place = cells_.Find(key, stride());
    if (place == PackedCells::kNone) return {};
    const PackedCells::Position value = cells_.Next(place);
    return {cells_.MutableAt(value), cells_.At(value).size()};
  }
  const RecordTable::Record record = table_->Find(key);
  if (!record) return {};
  if (table_->snapshot != nullptr) [[unlikely]]
    BeforeChange(record.segment(), key, record);
  return {record.data(), record.size()};
}

bool CompactMap::Set(std::string_view key, std::string_view value) {
  return packed() ? SetPacked(key, value) : SetInTable(key, value);
}

bool CompactMap::SetPacked(std::string_view key, std::string_view value) {
  const PackedCells::Position place = cells_.Find(key, stride());
  if (place == PackedCells::kNone) {
    cells_.Append(key);
    if (shape_ == Shape::kPairs) cells_.Append(value);
    return true;
  }
  if (shape_ == Shape::kPairs) cells_.Replace(cells_.Next(place), value);
  return false;
}

bool CompactMap::SetInTable(std::string_view key, std::string_view value) {
  const uint64_t hash = table_->Hash(key);
  RecordTable::Record record = table_->Find(key, hash);
  if (table_->snapshot != nullptr) [[unlikely]]
    BeforeChange(table_->SegmentFor(hash), key, record);
  const bool added = !record;
  // A value that grows is inserted anew, because only insertions split a segment that is full. So
  // is a large one, which would be copied otherwise before it is replaced.
  if (!added && (record.size() < value.size() || record.size() >= ElementView::kShareable)) {
    table_->Erase(record);
    record = {};
  }
  record = record ? table_->Resize(record, value.size()) : table_->Insert(key, hash, value.size());
  value.copy(record.data(), value.size());
  return added;
}

bool CompactMap::Erase(std::string_view key) {
  if (packed()) {
    const PackedCells::Position place = cells_.Find(key, stride());
    if (place == PackedCells::kNone) return false;
    cells_.Erase(place, stride());
    return true;
  }
  const RecordTable::Record record = table_->Find(key);
  if (!record) return false;
  if (table_->snapshot != nullptr) [[unlikely]]
    BeforeChange(record.segment(), key, record);
  table_->Erase(record);
  return true;
}

void CompactMap::Unpack() {
  if (!packed()) return;
  auto table = std::make_unique<Table>(seed_);
  ForEach([&](std::string_view key, std::string_view value) {
    value.copy(table->Insert(key, value.size()).data(), value.size());
    return true;
  });
  table_ = std::move(table);
  cells_.Clear();
}

void CompactMap::ForEach(StoppingVisitor visit) const {
  if (packed()) {
    for (PackedCells::Position place = 0; place < cells_.end();) {
      if (!visit(cells_.At(place), ValueAt(place))) return;
      for (size_t i = 0; i < stride(); ++i) place = cells_.Next(place);
    }
    return;
  }
  uint64_t position = 0;
  bool more = true;
  while (const RecordTable::Segment* segment = more ? table_->NextSegment(position) : nullptr) {
    table_->ForEach(*segment, [&](const RecordTable::Record& record) {
      more = more && visit(record.key_element(), record.element());
    });
  }
}

uint64_t CompactMap::Scan(uint64_t cursor, size_t count, Visitor visit) const {
  if (packed()) {
    ForEach([&](std::string_view key, std::string_view value) {
      visit(key, value);
      return true;
    });
    return 0;
  }
  return table_->Scan(cursor, count, [&](const RecordTable::Record& record) {
    visit(record.key_element(), record.element());
  });
}

void CompactMap::Sample(uint64_t random, Visitor visit) const {
  Check(size() > 0, "there is something to choose from");
  if (packed()) {
    const PackedCells::Position place = cells_.PositionOf(random % size() * stride());
    return visit(cells_.At(place), ValueAt(place));
  }
  const RecordTable::Record record = table_->Sample(random);
  visit(record.key_element(), record.element());
}

void CompactMap::SampleRepeated(size_t count, Random random, Visitor visit) const {
  Check(size() > 0, "there is something to choose from");
  if (packed()) {
    for (; count > 0; --count) Sample(random(), visit);
    return;
  }
  table_->SampleMany(count, random, [&](const RecordTable::Record& record) {
    visit(record.key_element(), record.element());
  });
}

void CompactMap::SampleDistinct(size_t count, Random random, Visitor visit) const {
  Check(count <= size(), "no more are chosen than there are");
  if (packed() || count > size() / kFewAreOneIn) {
    // Selection sampling: Knuth, The Art of Computer Programming, vol. 2, 3.4.2, algorithm S.
    size_t left = size();
    ForEach([&](std::string_view key, std::string_view value) {
      if (count == 0) return false;
      if (random() % left-- < count) {
        visit(key, value);
        --count;
      }
      return true;
    });
    return;
  }
  absl::flat_hash_set<const char*> chosen;
  while (chosen.size() < count) {
    const RecordTable::Record record = table_->Sample(random());
    if (chosen.insert(record.key().data()).second) visit(record.key_element(), record.element());
  }
}

bool CompactMap::FreeSome(size_t count) {
  cells_.Clear();
  return packed() || table_->FreeSome(std::max<size_t>(count / kElementsOfASegment, 1));
}

size_t CompactMap::MemoryBytes() const {
  if (packed()) return cells_.MemoryBytes();
  return HeapBytes(sizeof(Table)) + table_->MemoryBytes();
}

void CompactMap::AppendTexts(std::string_view key, std::string_view value, std::string& out) const {
  AppendLengthPrefixed(out, PlainText(key).view());
  if (shape_ == Shape::kPairs) AppendLengthPrefixed(out, PlainText(value).view());
}

uint64_t CompactMap::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  const size_t begin = out.size();
  if (packed()) {
    ForEach([&](std::string_view key, std::string_view value) {
      AppendTexts(key, value, out);
      return true;
    });
    return 0;
  }
  do {
    const RecordTable::Segment* segment = table_->NextSegment(cursor);
    if (segment == nullptr) return 0;
    table_->ForEach(*segment, [&](const RecordTable::Record& record) {
      AppendTexts(record.key(), record.payload(), out);
    });
  } while (out.size() - begin < max_bytes && !table_->AtEnd(cursor));
  return table_->AtEnd(cursor) ? 0 : cursor;
}

}  // namespace tally
