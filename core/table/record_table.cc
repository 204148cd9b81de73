#include "core/table/record_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/base/check.h"

namespace tally {
namespace {

// A cursor is this many top bits of a hash. It stays exact even in a client that holds it in a
// double.
constexpr int kCursorBits = 48;
constexpr int kCursorShift = 64 - kCursorBits;

// With this many records per segment on average, hardly any segment gets more than it may have: the
// numbers differ from the average by no more than a few times its square root.
constexpr size_t kReservedInSegment = 800;
// A directory with more entries than this doubles only if the table has more records than entries.
// Records whose hashes agree in many bits then make their segment large instead of the directory.
constexpr size_t kSmallDirectory = 1024;
// Reserve's number is limited to this, because nobody has checked it.
constexpr size_t kMostReserved = size_t{1} << 28;

uint64_t PrefixOf(uint64_t hash) { return hash >> kCursorShift; }

using Hashes = std::array<uint64_t, RecordTable::kMaxPrefetch>;

// The first step of prefetching. Returns the keys' hashes for the other steps.
Hashes PrefetchSegments(const RecordTable& table, std::span<const std::string_view> keys) {
  Check(keys.size() <= RecordTable::kMaxPrefetch, "few keys are prefetched at a time");
  Hashes hashes;
  for (size_t i = 0; i < keys.size(); ++i) {
    hashes[i] = table.Hash(keys[i]);
    table.PrefetchSegment(hashes[i]);
  }
  return hashes;
}

}  // namespace

RecordTable::RecordTable(uint64_t seed, SplitObserver* observer)
    : seed_(seed), observer_(observer) {
  Clear();
}

RecordTable::~RecordTable() { FreeSome(SIZE_MAX); }

RecordTable::RecordTable(RecordTable&& other) noexcept
    : seed_(other.seed_),
      observer_(other.observer_),
      directory_(std::move(other.directory_)),
      size_(std::exchange(other.size_, 0)),
      segment_bytes_(std::exchange(other.segment_bytes_, 0)) {}

RecordTable& RecordTable::operator=(RecordTable&& other) noexcept {
  FreeSome(SIZE_MAX);
  seed_ = other.seed_;
  observer_ = other.observer_;
  directory_ = std::move(other.directory_);
  size_ = std::exchange(other.size_, 0);
  segment_bytes_ = std::exchange(other.segment_bytes_, 0);
  return *this;
}

uint64_t RecordTable::Hash(std::string_view key) const {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed_);
}

RecordTable::Record RecordTable::Find(std::string_view key, uint64_t hash) const {
  return SegmentOf(hash)->Find(key, hash);
}

void RecordTable::ForEachWithHash(uint64_t hash,
                                  absl::FunctionRef<void(const Record&)> visit) const {
  const Segment& segment = *SegmentOf(hash);
  for (const uint32_t offset : segment.WithHash(hash)) visit(segment.At(offset, hash));
}

void RecordTable::Prefetch(std::span<const std::string_view> keys) const {
  const Hashes hashes = PrefetchSegments(*this, keys);
  for (size_t i = 0; i < keys.size(); ++i) PrefetchIndex(hashes[i]);
  for (size_t i = 0; i < keys.size(); ++i) PrefetchRecord(hashes[i]);
}

void RecordTable::PrefetchInsertions(std::span<const std::string_view> keys) const {
  const Hashes hashes = PrefetchSegments(*this, keys);
  for (size_t i = 0; i < keys.size(); ++i) PrefetchInsertion(hashes[i]);
}

template <typename Change>
auto RecordTable::Accounted(Segment& segment, Change&& change) {
  segment_bytes_ -= segment.MemoryBytes();
  struct Settle {
    RecordTable& table;
    Segment& segment;
    ~Settle() { table.segment_bytes_ += segment.MemoryBytes(); }
  } settle{*this, segment};
  return change();
}

RecordTable::Record RecordTable::Insert(std::string_view key, uint64_t hash, size_t payload_size) {
  Segment* segment = SegmentOf(hash);
  while (segment->IsFull(key.size() + payload_size) && MaySplit(*segment)) {
    Split(*segment);
    segment = SegmentOf(hash);
  }
  const uint32_t offset =
      Accounted(*segment, [&] { return segment->Add(key, hash, payload_size); });
  ++size_;
  return segment->At(offset, hash);
}

void RecordTable::Reserve(size_t records) {
  if (!empty() || directory_.depth() != 0) return;
  records = std::min(records, kMostReserved);
  uint32_t depth = 0;
  while (records >> depth > kReservedInSegment) ++depth;
  Segment& first = *directory_[0];
  while (directory_.depth() < depth) directory_.Double();
  for (size_t i = 1; i < directory_.size(); ++i) {
    auto* segment = new Segment(seed_, depth);
    segment->epoch = first.epoch;
    segment_bytes_ += segment->MemoryBytes();
    directory_.Assign(uint64_t{i} << (64 - depth), depth, segment);
  }
  for (Segment* segment : directory_) {
    segment->Expect(depth, static_cast<uint32_t>(records >> depth));
  }
}

RecordTable::Record RecordTable::Resize(const Record& record, size_t payload_size) {
  if (record.size() == payload_size) return record;
  Segment& segment = record.segment();
  return Accounted(segment, [&] { return segment.Resize(record, payload_size); });
}

void RecordTable::Erase(const Record& record) {
  Segment& segment = record.segment();
  Accounted(segment, [&] { segment.Erase(record); });
  --size_;
}

void RecordTable::Pack(Segment& segment) {
  Accounted(segment, [&] { segment.Pack(); });
}

bool RecordTable::MaySplit(const Segment& segment) const {
  return segment.depth() < directory_.depth() || directory_.size() <= kSmallDirectory ||
         directory_.size() < size_;
}

void RecordTable::Split(Segment& segment) {
  if (segment.depth() == directory_.depth()) directory_.Double();
  segment_bytes_ -= segment.MemoryBytes();
  // A segment that splits has records.
  const uint64_t any_hash = Hash(segment.At(*segment.offsets().begin()).key());
  std::unique_ptr<Segment> high = segment.SplitUpperHalf();
  const uint32_t depth = high->depth();
  // The upper half of the old range now belongs to `high`.
  directory_.Assign(any_hash | uint64_t{1} << (64 - depth), depth, high.get());
  segment_bytes_ += segment.MemoryBytes() + high->MemoryBytes();
  Segment* into = high.release();
  if (observer_ != nullptr) observer_->OnSplit(segment, *into);
}

std::vector<std::pair<uint64_t, uint32_t>> RecordTable::RecordsFrom(const Segment& segment,
                                                                    uint64_t prefix) const {
  std::vector<std::pair<uint64_t, uint32_t>> found;
  found.reserve(segment.size());
  for (uint32_t offset : segment.offsets()) {
    const uint64_t own = PrefixOf(Hash(segment.At(offset).key()));
    if (own >= prefix) found.emplace_back(own, offset);
  }
  return found;
}

uint64_t RecordTable::Scan(uint64_t cursor, size_t count,
                           const std::function<void(const Record&)>& visit) const {
  if (cursor >> kCursorBits != 0) return 0;
  for (size_t looked_at = 0; looked_at < kScanSegments; ++looked_at) {
    const Segment& segment = *SegmentOf(cursor << kCursorShift);
    auto found = RecordsFrom(segment, cursor);
    if (found.size() > count) {
      // Visits the `count` smallest prefixes and all others that equal the last of these: a cursor
      // cannot separate equal prefixes.
      std::nth_element(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), found.end());
      const uint64_t last =
          count == 0
              ? cursor
              : std::max_element(found.begin(), found.begin() + static_cast<ptrdiff_t>(count))
                    ->first;
      for (const auto& [prefix, offset] : found) {
        if (prefix <= last) visit(segment.At(offset));
      }
      return (last + 1) >> kCursorBits != 0 ? 0 : last + 1;
    }
    for (const auto& [prefix, offset] : found) visit(segment.At(offset));
    count -= found.size();
    cursor = directory_.NextInterval(cursor << kCursorShift, segment.depth()) >> kCursorShift;
    if (cursor == 0 || count == 0) return cursor;
  }
  return cursor;
}

RecordTable::Choice RecordTable::Choose(uint64_t random) const {
  // Empty segments are skipped, which favours the segments after them a little.
  size_t index = directory_.IndexOf(random * 0x9E3779B97F4A7C15u);
  while (directory_[index]->size() == 0) index = (index + 1) % directory_.size();
  return {index, (random >> 7) % directory_[index]->size()};
}

RecordTable::Record RecordTable::Sample(uint64_t random) const {
  if (empty()) return {};
  const auto [index, rank] = Choose(random);
  const Segment& segment = *directory_[index];
  auto it = segment.offsets().begin();
  std::advance(it, static_cast<ptrdiff_t>(rank));
  return segment.At(*it, Hash(segment.At(*it).key()));
}

// The records are looked up in the order of their places, and visited in the order in which they
// were chosen.
void RecordTable::SampleMany(size_t count, absl::FunctionRef<uint64_t()> random,
                             absl::FunctionRef<void(const Record&)> visit) const {
  constexpr size_t kBatch = size_t{1} << 18;
  struct Chosen {
    Choice choice;
    size_t number;
  };
  struct Found {
    const Segment* segment;
    uint32_t offset;
  };
  std::vector<Chosen> chosen;
  std::vector<Found> found;
  for (size_t left = empty() ? 0 : count; left > 0; left -= chosen.size()) {
    chosen.resize(std::min(left, kBatch));
    found.resize(chosen.size());
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = {Choose(random()), i};
    std::sort(chosen.begin(), chosen.end(), [](const Chosen& a, const Chosen& b) {
      return std::pair(a.choice.index, a.choice.rank) < std::pair(b.choice.index, b.choice.rank);
    });
    size_t rank = 0;
    const Segment* segment = nullptr;
    decltype(segment->offsets().begin()) place;
    for (const Chosen& one : chosen) {
      const Segment* const next = directory_[one.choice.index];
      if (next != segment || one.choice.rank < rank) {
        segment = next;
        place = segment->offsets().begin();
        rank = 0;
      }
      for (; rank < one.choice.rank; ++rank) ++place;
      found[one.number] = {segment, *place};
    }
    for (size_t i = 0; i < found.size(); ++i) {
      constexpr size_t kAhead = 8;
      if (i + kAhead < found.size()) {
        const Found& later = found[i + kAhead];
        later.segment->PrefetchAt(later.offset);
      }
      visit(found[i].segment->At(found[i].offset));
    }
  }
}

RecordTable::Segment* RecordTable::NextSegment(uint64_t& position) const {
  if (position == kEndPosition || directory_.empty()) return nullptr;
  // A position is the lowest hash of the next range.
  Segment* segment = SegmentOf(position);
  position = directory_.NextInterval(position, segment->depth());
  if (position == 0) position = kEndPosition;
  return segment;
}

bool RecordTable::FreeSome(size_t segments) {
  while (!directory_.empty() && segments-- > 0) {
    Segment* last = directory_.TakeLast();
    size_ -= last->size();
    segment_bytes_ -= last->MemoryBytes();
    delete last;
  }
  return directory_.empty();
}

void RecordTable::Clear() {
  FreeSome(SIZE_MAX);
  directory_ = Directory<Segment>(new Segment(seed_, 0));
  segment_bytes_ = directory_[0]->MemoryBytes();
}

size_t RecordTable::MemoryBytes() const { return segment_bytes_ + directory_.capacity_bytes(); }

}  // namespace tally
