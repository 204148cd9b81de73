#include "core/list/string_deque_snapshot.h"

#include <utility>

#include "core/bytes/varint.h"

namespace tally {
namespace {

constexpr size_t kRunBytes = 64 * 1024;

}  // namespace

void StringDequeSnapshot::BeforeChange(const Chunks& chunks, size_t k) {
  while (begin_ <= k && k < end_) {
    if (k - begin_ < end_ - k) {
      before_.push_back(chunks[begin_++].Clone());
    } else {
      after_.push_front(chunks[--end_].Clone());
    }
  }
}

void StringDequeSnapshot::BeforeDropFront(Chunks& chunks) {
  if (begin_ != 0 || end_ == 0) return;
  before_.push_back(std::exchange(chunks.front(), StringChunk()));
  ++begin_;
}

void StringDequeSnapshot::BeforeDropBack(Chunks& chunks) {
  if (begin_ == end_ || end_ != chunks.span_count()) return;
  after_.push_front(std::exchange(chunks.back(), StringChunk()));
  --end_;
}

void StringDequeSnapshot::ChunkAdded(size_t k) {
  if (k > begin_) return;
  ++begin_;
  ++end_;
}

void StringDequeSnapshot::ChunkGone(size_t k) {
  if (k >= begin_) return;
  --begin_;
  --end_;
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
  return true;
}

const StringChunk* StringDequeSnapshot::Next(const Chunks& chunks) {
  if (begin_ == end_ && before_.empty()) std::swap(before_, after_);
  if (!before_.empty()) {
    given_ = std::move(before_.front());
    before_.pop_front();
    return &given_;
  }
  return begin_ < end_ ? &chunks[begin_++] : nullptr;
}

}  // namespace tally
