#include "core/list/string_deque.h"

#include <utility>

#include "core/base/check.h"
#include "core/bytes/run_sink.h"

namespace tally {
namespace {

StringChunk ChunkOf(std::string_view text) {
  StringChunk chunk;
  chunk.Insert(0, text);
  return chunk;
}

}  // namespace

std::unique_ptr<StringDeque> StringDeque::Clone() const {
  auto copy = std::make_unique<StringDeque>();
  for (const StringChunk& chunk : chunks_) copy->chunks_.PushBack(chunk.Clone());
  return copy;
}

void StringDeque::AppendAt(size_t i, std::string& out) const {
  Check(i < size(), "an index lies inside the deque");
  const auto [k, offset] = chunks_.Locate(i);
  chunks_[k].AppendAt(offset, out);
}

void StringDeque::PushFront(std::string_view text) {
  if (size() > 0 && chunks_.front().HasRoomFor(text.size())) {
    BeforeChange(0);
    chunks_.front().Insert(0, text);
    chunks_.GrewFront();
  } else {
    chunks_.PushFront(ChunkOf(text));
    if (snapshot_ != nullptr) snapshot_->ChunkAdded(0);
  }
}

void StringDeque::PushBack(std::string_view text) {
  if (size() > 0 && chunks_.back().HasRoomFor(text.size())) {
    BeforeChange(chunks_.span_count() - 1);
    chunks_.back().Insert(chunks_.back().size(), text);
    chunks_.GrewBack();
  } else {
    chunks_.PushBack(ChunkOf(text));
    if (snapshot_ != nullptr) snapshot_->ChunkAdded(chunks_.span_count() - 1);
  }
}

void StringDeque::PushBack(IntBlock numbers) {
  Check(snapshot_ == nullptr, "integers become texts before a snapshot sees them");
  chunks_.PushBack(StringChunk(std::move(numbers)));
}

void StringDeque::DropFront(size_t count) {
  Check(count <= size(), "a deque gives up no more than it has");
  while (count > 0) {
    const size_t part = std::min(count, chunks_.front().size());
    const bool is_whole = part == chunks_.front().size();
    if (snapshot_ != nullptr) {
      is_whole ? snapshot_->BeforeDropFront(chunks_) : snapshot_->BeforeChange(chunks_, 0);
    }
    if (chunks_.front().size() > 0) chunks_.front().DropFront(part);
    chunks_.ShrankFront(part);
    if (is_whole && snapshot_ != nullptr) snapshot_->ChunkGone(0);
    count -= part;
  }
}

void StringDeque::DropBack(size_t count) {
  Check(count <= size(), "a deque gives up no more than it has");
  while (count > 0) {
    const size_t part = std::min(count, chunks_.back().size());
    const bool is_whole = part == chunks_.back().size();
    if (snapshot_ != nullptr) {
      is_whole ? snapshot_->BeforeDropBack(chunks_)
               : snapshot_->BeforeChange(chunks_, chunks_.span_count() - 1);
    }
    if (chunks_.back().size() > 0) chunks_.back().DropBack(part);
    chunks_.ShrankBack(part);
    if (is_whole && snapshot_ != nullptr) snapshot_->ChunkGone(chunks_.span_count());
    count -= part;
  }
}

void StringDeque::Set(size_t i, std::string_view text) {
  // Inserts the new entry first, because a chunk must not become empty in between.
  Insert(i, text);
  Erase(i + 1);
}

void StringDeque::Insert(size_t i, std::string_view text) {
  Check(i <= size(), "an entry is inserted inside the deque or at its end");
  if (i == 0) return PushFront(text);
  if (i == size()) return PushBack(text);
  auto [k, offset] = chunks_.Locate(i);
  BeforeChange(k);
  if (!chunks_[k].HasRoomFor(text.size()) && offset > 0) {
    // Splits the chunk: its tail becomes chunk k + 1, and the entry goes between head and tail.
    chunks_.InsertSplit(k, chunks_[k].SplitFrom(offset));
    if (snapshot_ != nullptr) snapshot_->ChunkAdded(k + 1);
    ++k;
    offset = 0;
  }
  if (offset == 0 && !chunks_[k].HasRoomFor(text.size())) {
    // The entry belongs between chunks k - 1 and k, where k > 0 because i > 0. If chunk k - 1 has
    // no room either, the entry gets a chunk of its own.
    if (!chunks_[k - 1].HasRoomFor(text.size())) {
      chunks_.InsertSplit(k - 1, StringChunk());
      if (snapshot_ != nullptr) snapshot_->ChunkAdded(k);
      chunks_[k].Insert(0, text);
      chunks_.Changed(k, 1);
      return;
    }
    --k;
    BeforeChange(k);
    offset = chunks_[k].size();
  }
  chunks_[k].Insert(offset, text);
  chunks_.Changed(k, 1);
}

void StringDeque::Erase(size_t i) {
  Check(i < size(), "an index lies inside the deque");
  const auto [k, offset] = chunks_.Locate(i);
  BeforeChange(k);
  chunks_[k].Erase(offset);
  const bool emptied = chunks_[k].size() == 0;
  chunks_.Changed(k, -1);
  if (!emptied) {
    MergeAround(k);
  } else if (snapshot_ != nullptr) {
    snapshot_->ChunkGone(k);
  }
}

void StringDeque::MergeAround(size_t k) {
  if (k > 0 && Join(k - 1, k)) {
    --k;
  } else if (k + 1 == chunks_.span_count() || !Join(k, k + 1)) {
    return;
  }
  chunks_.EraseMerged(k);
  if (snapshot_ != nullptr) snapshot_->ChunkGone(k + 1);
}

bool StringDeque::Join(size_t k, size_t next) {
  if (chunks_[k].used() + chunks_[next].used() > StringChunk::kBytes / 2) return false;
  BeforeChange(k);
  BeforeChange(next);
  chunks_[k].Append(chunks_[next]);
  return true;
}

size_t StringDeque::RemoveMatching(const Wanted& wanted, size_t most, bool from_back) {
  size_t removed = 0;
  const size_t count = chunks_.span_count();
  for (size_t i = 0; i < count && removed < most; ++i) {
    const size_t k = from_back ? count - 1 - i : i;
    const size_t matches = chunks_[k].CountMatching(wanted);
    if (matches == 0) continue;
    BeforeChange(k);
    const size_t part = std::min(matches, most - removed);
    chunks_[k].RemoveMatching(wanted, from_back ? matches - part : 0, part);
    removed += part;
  }
  if (removed == 0) return 0;
  chunks_.Tidy([&](size_t k, size_t next) { return Join(k, next); },
               [&](size_t k) {
                 if (snapshot_ != nullptr) snapshot_->ChunkGone(k);
               });
  return removed;
}

void StringDeque::BeginSnapshot(char kind, const RunSink& sink) {
  snapshot_ = std::make_unique<StringDequeSnapshot>(chunks_, kind, sink);
  SaveSnapshot();
}

bool StringDeque::SaveSnapshot() {
  if (snapshot_ != nullptr && !snapshot_->SaveSome(chunks_)) snapshot_ = nullptr;
  return snapshot_ != nullptr;
}

bool StringDeque::FreeSome(size_t entries) {
  chunks_.FreeBack(entries);
  return size() == 0;
}

}  // namespace tally
