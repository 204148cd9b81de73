#include "core/zset/indexed_zset.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/run_sink.h"

namespace tally {

IndexedZSet::~IndexedZSet() {
  if (store_.long_members() == 0) return;
  order_.ForEach({0, size()}, false, [this](Handle handle) {
    store_.Free(handle);
    return true;
  });
}

std::optional<double> IndexedZSet::Find(const MemberName& name) const {
  const Handle handle = index_.Find(store_.MakeKey(name));
  if (handle == Slab::kNull) return std::nullopt;
  return store_.Score(handle);
}

AddResult IndexedZSet::Set(double score, const MemberName& name) {
  const MemberStore::Key key = store_.MakeKey(name);
  Handle handle = index_.Find(key);
  if (handle == Slab::kNull) {
    handle = store_.Add(score, name);
    if (handle == Slab::kNull) return AddResult::kFull;
    if (snapshot_ != nullptr) snapshot_->Mark(handle);
    index_.Insert(handle, key.hash);
    order_.Insert(handle);
    return AddResult::kAdded;
  }
  const double old_score = store_.Score(handle);
  if (old_score == score) return AddResult::kUnchanged;
  if (snapshot_ != nullptr) SaveForSnapshot(handle);
  order_.EraseRun(order_.RankOf(Position::Before(old_score, name.text)), 1, [](Handle) {});
  store_.SetScore(handle, score);
  order_.Insert(handle);
  return AddResult::kUpdated;
}

bool IndexedZSet::Erase(const MemberName& name) {
  const Handle handle = index_.Find(store_.MakeKey(name));
  if (handle == Slab::kNull) return false;
  const size_t rank = RankOf(Position::Before(store_.Score(handle), name.text));
  EraseRange({rank, rank + 1});
  return true;
}

void IndexedZSet::ForEach(RankRange range, bool reverse,
                          absl::FunctionRef<bool(const ElementView&, double)> visit) const {
  order_.ForEach(range, reverse, [&](Handle handle) {
    return visit(store_.Text(handle).view(), store_.Score(handle));
  });
}

void IndexedZSet::EraseRange(RankRange range) {
  Check(range.begin <= range.end && range.end <= size(), "rank range");
  for (size_t left = range.size(); left > 0;) {
    left -= order_.EraseRun(range.begin, left, [this](Handle handle) {
      if (snapshot_ != nullptr) SaveForSnapshot(handle);
      index_.Erase(handle);
      store_.Free(handle);
    });
  }
}

uint64_t IndexedZSet::Scan(uint64_t cursor, size_t count,
                           absl::FunctionRef<void(const ElementView&, double)> visit) const {
  return index_.Scan(cursor, count, [&](Handle handle) {
    visit(store_.Text(handle).view(), store_.Score(handle));
  });
}

bool IndexedZSet::FreeSome(size_t count) {
  if (!index_.DropSome(count)) return false;
  for (size_t freed = 0; freed < count && size() > 0;) {
    freed += order_.EraseRun(0, SIZE_MAX, [this](Handle handle) { store_.Free(handle); });
  }
  return size() == 0;
}

void IndexedZSet::BeginSnapshot(const RunSink& sink) {
  snapshot_ = std::make_unique<ZSetSnapshot>(sink);
  sink({});
}

void IndexedZSet::SaveForSnapshot(Handle handle) {
  if (snapshot_->Mark(handle)) snapshot_->Save(store_.Text(handle).view(), store_.Score(handle));
}

bool IndexedZSet::SaveSnapshot() {
  if (snapshot_ == nullptr) return false;
  // Counts the elements that a slice looks at, and their bytes. Not all of them are saved: those
  // that are marked already take little time.
  constexpr size_t kElementsASlice = 1000;
  constexpr size_t kBytesASlice = size_t{256} << 10;
  ZSetSnapshot& snapshot = *snapshot_;
  const size_t from =
      snapshot.begun ? order_.RankOf({snapshot.score, Position::Tie::kAfterMember, snapshot.member})
                     : 0;
  Handle last = Slab::kNull;
  size_t to = from;
  size_t bytes = 0;
  order_.ForEach({from, std::min(size(), from + kElementsASlice)}, false, [&](Handle handle) {
    SaveForSnapshot(handle);
    last = handle;
    ++to;
    bytes += store_.Text(handle).view().size();
    return bytes < kBytesASlice;
  });
  if (to == size()) {
    snapshot.Flush();
    snapshot_ = nullptr;
    return false;
  }
  snapshot.begun = true;
  snapshot.score = store_.Score(last);
  snapshot.member = store_.Text(last).view();
  return true;
}

size_t IndexedZSet::MemoryBytes() const {
  return HeapBytes(sizeof(*this)) + store_.MemoryBytes() + index_.MemoryBytes() +
         order_.MemoryBytes();
}

}  // namespace tally
