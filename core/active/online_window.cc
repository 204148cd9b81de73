#include "core/active/online_window.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

constexpr size_t kMaxCells = 250;
constexpr uint32_t kMillis = 1'000;

}  // namespace

OnlineWindow::Second::Second(const Second& other) : total(other.total), cells(other.cells) {
  if (other.counters == nullptr) return;
  counters = std::make_unique_for_overwrite<uint32_t[]>(kMillis);
  std::copy_n(other.counters.get(), kMillis, counters.get());
}

void OnlineWindow::Second::MakeDense() {
  counters = std::make_unique<uint32_t[]>(kMillis);
  for (const Cell& cell : cells) counters[cell.ms] = cell.count;
  cells = std::vector<Cell>();
}

void OnlineWindow::Second::Add(uint32_t ms) {
  ++total;
  if (counters == nullptr) {
    const auto place = std::lower_bound(cells.begin(), cells.end(), ms,
                                        [](const Cell& cell, uint32_t m) { return cell.ms < m; });
    const bool there = place != cells.end() && place->ms == ms;
    if (there && place->count < UINT16_MAX) {
      ++place->count;
      return;
    }
    if (!there && cells.size() < kMaxCells) {
      cells.insert(place, {static_cast<uint16_t>(ms), 1});
      return;
    }
    MakeDense();
  }
  ++counters[ms];
}

void OnlineWindow::Second::Remove(uint32_t ms) {
  --total;
  if (counters != nullptr) {
    --counters[ms];
    return;
  }
  const auto place = std::lower_bound(cells.begin(), cells.end(), ms,
                                      [](const Cell& cell, uint32_t m) { return cell.ms < m; });
  Check(place != cells.end() && place->ms == ms, "what is removed was added");
  if (--place->count == 0) cells.erase(place);
}

uint32_t OnlineWindow::Second::CountThrough(uint32_t ms) const {
  uint32_t sum = 0;
  if (counters != nullptr) {
    for (uint32_t i = 0; i <= ms; ++i) sum += counters[i];
    return sum;
  }
  for (const Cell& cell : cells) {
    if (cell.ms > ms) break;
    sum += cell.count;
  }
  return sum;
}

uint32_t OnlineWindow::Second::DropThrough(uint32_t ms) {
  const uint32_t dropped = CountThrough(ms);
  total -= dropped;
  if (counters != nullptr) {
    std::fill_n(counters.get(), ms + 1, 0);
  } else {
    std::erase_if(cells, [ms](const Cell& cell) { return cell.ms <= ms; });
  }
  return dropped;
}

void OnlineWindow::Add(int64_t at_ms) {
  if (at_ms <= start_ms_) return;
  seconds_[at_ms / kMillis].Add(static_cast<uint32_t>(at_ms % kMillis));
  ++count_;
}

void OnlineWindow::Remove(int64_t at_ms) {
  if (at_ms <= start_ms_) return;
  const auto second = seconds_.find(at_ms / kMillis);
  Check(second != seconds_.end(), "what is removed was added");
  second->second.Remove(static_cast<uint32_t>(at_ms % kMillis));
  if (second->second.total == 0) seconds_.erase(second);
  --count_;
}

void OnlineWindow::Advance(int64_t start_ms) {
  if (start_ms <= start_ms_) return;
  start_ms_ = start_ms;
  while (!seconds_.empty()) {
    const auto oldest = seconds_.begin();
    const int64_t first_ms = oldest->first * kMillis;
    if (first_ms > start_ms) return;
    if (first_ms + kMillis - 1 > start_ms) {
      count_ -= oldest->second.DropThrough(static_cast<uint32_t>(start_ms - first_ms));
      if (oldest->second.total == 0) seconds_.erase(oldest);
      return;
    }
    count_ -= oldest->second.total;
    seconds_.erase(oldest);
  }
}

uint32_t OnlineWindow::CountAfter(int64_t after_ms) const {
  return after_ms == start_ms_ ? count_ : Falling(*this).CountAfter(after_ms);
}

uint32_t OnlineWindow::Falling::CountAfter(int64_t after_ms) {
  const auto end = window_.seconds_.end();
  for (; next_ != end && next_->first * kMillis + kMillis - 1 <= after_ms; ++next_) {
    gone_ += next_->second.total;
  }
  uint32_t partly = 0;
  if (next_ != end && next_->first * kMillis <= after_ms) {
    partly = next_->second.CountThrough(static_cast<uint32_t>(after_ms - next_->first * kMillis));
  }
  return window_.count_ - gone_ - partly;
}

size_t OnlineWindow::MemoryBytes() const {
  // Nodes of a B-tree are on average some three quarters full.
  size_t bytes = seconds_.size() * (sizeof(int64_t) + sizeof(Second)) * 4 / 3;
  for (const auto& [second, cells] : seconds_) {
    bytes += cells.counters != nullptr ? HeapBytes(kMillis * sizeof(uint32_t))
                                       : HeapBytes(cells.cells.capacity() * sizeof(Cell));
  }
  return bytes;
}

}  // namespace tally
