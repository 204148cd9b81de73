#include "core/list/string_deque_snapshot.h"

#include <algorithm>
#include <utility>

#include "core/bytes/recycle.h"
#include "core/bytes/run_sink.h"
#include "core/bytes/varint.h"

namespace tally {

StringDequeSnapshot::StringDequeSnapshot(const Chunks& chunks, char kind, const RunSink& sink)
    : parts_(2), kind_(kind), sink_(sink) {
  parts_[1].end = chunks.span_count();
}

size_t StringDequeSnapshot::PartOf(size_t k) const {
  const auto part = std::partition_point(parts_.begin() + static_cast<ptrdiff_t>(first_),
                                         parts_.end(), [&](const Part& p) { return p.end <= k; });
  const bool is_inside = part != parts_.end() && part->begin <= k;
  return is_inside ? static_cast<size_t>(part - parts_.begin()) : kNoPart;
}

// There is always a part before one with a range: part 0, if no other.
void StringDequeSnapshot::Replace(size_t number, size_t k, StringChunk aside) {
  Part& part = parts_[number];
  if (k == part.begin) {
    Part& before = parts_[number - 1];
    ++part.begin;
    before.after.push_back(std::move(aside));
    if (number > first_) return;
    // The part before has been saved, so it has none but this chunk.
    before.begin = before.end = k;
    first_ = number - 1;
  } else if (k + 1 == part.end) {
    --part.end;
    part.after.push_front(std::move(aside));
  } else {
    Part rest{k + 1, std::exchange(part.end, k), std::exchange(part.after, {})};
    part.after.push_back(std::move(aside));
    parts_.insert(parts_.begin() + static_cast<ptrdiff_t>(number) + 1, std::move(rest));
  }
}

void StringDequeSnapshot::BeforeChange(const Chunks& chunks, size_t k) {
  const size_t part = PartOf(k);
  if (part != kNoPart) Replace(part, k, chunks[k].Clone());
}

void StringDequeSnapshot::BeforeDropFront(Chunks& chunks) {
  const size_t part = PartOf(0);
  if (part != kNoPart) Replace(part, 0, std::exchange(chunks.front(), StringChunk()));
}

void StringDequeSnapshot::BeforeDropBack(Chunks& chunks) {
  const size_t last = chunks.span_count() - 1;
  const size_t part = PartOf(last);
  if (part != kNoPart) Replace(part, last, std::exchange(chunks.back(), StringChunk()));
}

void StringDequeSnapshot::ChunkAdded(size_t k) {
  for (size_t i = parts_.size(); i > first_ && parts_[i - 1].end >= k; --i) {
    if (parts_[i - 1].begin < k) continue;
    ++parts_[i - 1].begin;
    ++parts_[i - 1].end;
  }
}

void StringDequeSnapshot::ChunkGone(size_t k) {
  for (size_t i = parts_.size(); i > first_ && parts_[i - 1].begin > k; --i) {
    --parts_[i - 1].begin;
    --parts_[i - 1].end;
  }
}

bool StringDequeSnapshot::SaveSome(const Chunks& chunks) {
  run_.assign(1, kind_);
  while (run_.size() < kRunBytes) {
    const StringChunk* chunk = Next(chunks);
    if (chunk == nullptr) break;
    chunk->ForEach(0, chunk->size(), [&](std::string_view text) {
      AppendLengthPrefixed(run_, text);
      return true;
    });
  }
  if (run_.size() == 1) return false;
  sink_(run_);
  // One large text must not keep its memory until the end.
  Recycle(run_, 2 * kRunBytes);
  return true;
}

const StringChunk* StringDequeSnapshot::Next(const Chunks& chunks) {
  for (; first_ < parts_.size(); ++first_) {
    Part& part = parts_[first_];
    if (part.begin < part.end) return &chunks[part.begin++];
    if (part.after.empty()) continue;
    given_ = std::move(part.after.front());
    part.after.pop_front();
    return &given_;
  }
  given_ = StringChunk();
  return nullptr;
}

}  // namespace tally
