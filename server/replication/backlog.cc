#include "server/replication/backlog.h"

#include <algorithm>
#include <iterator>

namespace tally::server {

void Backlog::Append(size_t database, std::string_view effects) {
  const bool joins =
      !batches_.empty() && batches_.back().bytes->size() + effects.size() <= kBatchBytes;
  if (!joins) {
    batches_.push_back({end_, std::make_shared<std::string>(), {}});
    batches_.back().bytes->reserve(std::max(effects.size(), std::min(kBatchBytes, bytes())));
  }
  Batch& batch = batches_.back();
  batch.marks.push_back(
      {static_cast<uint32_t>(batch.bytes->size()), static_cast<uint32_t>(database)});
  batch.bytes->append(effects);
  end_ += effects.size();
}

void Backlog::Trim(uint64_t size, uint64_t needed) {
  while (!batches_.empty()) {
    const uint64_t next = batches_.front().offset + batches_.front().bytes->size();
    if (next > needed || end_ - next < size) return;
    batches_.pop_front();
    begin_ = next;
  }
}

const Backlog::Batch* Backlog::Find(uint64_t offset) const {
  if (offset < begin_ || offset >= end_) return nullptr;
  const auto after =
      std::upper_bound(batches_.begin(), batches_.end(), offset,
                       [](uint64_t at, const Batch& batch) { return at < batch.offset; });
  return &*std::prev(after);
}

std::optional<Backlog::Part> Backlog::From(uint64_t offset) const {
  const Batch* const batch = Find(offset);
  if (batch == nullptr) return std::nullopt;
  const uint64_t position = offset - batch->offset;
  const auto mark =
      std::lower_bound(batch->marks.begin(), batch->marks.end(), position,
                       [](const Mark& one, uint64_t at) { return one.position < at; });
  if (mark == batch->marks.end() || mark->position != position) return std::nullopt;
  return Part{mark->database, batch->bytes, position};
}

}  // namespace tally::server
