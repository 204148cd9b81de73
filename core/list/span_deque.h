// A sequence split into spans of neighbouring entries, with the arithmetic that finds the span of
// an index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/list/flat_deque.h"

namespace tally {

// Span has size() and a public `uint64_t start`, which this class sets: the sequence number of the
// span's first entry. Only differences of these numbers matter: the first span's number may be any
// value and may wrap around, so a push or pop at the front renumbers only one span. Between calls
// no span is empty.
template <typename Span>
class SpanDeque {
 public:
  struct Position {
    size_t span;
    size_t offset;
  };

  // Entries in all spans.
  size_t size() const { return size_; }
  size_t span_count() const { return spans_.size(); }
  Span& operator[](size_t k) { return spans_[k]; }
  const Span& operator[](size_t k) const { return spans_[k]; }
  Span& front() { return spans_.front(); }
  Span& back() { return spans_.back(); }
  const Span& front() const { return spans_.front(); }
  const Span& back() const { return spans_.back(); }
  const Span* begin() const { return spans_.begin(); }
  const Span* end() const { return spans_.end(); }

  // Returns the place of entry i; i < size(). O(1) while the spans are about equally full, as they
  // are after pushes; otherwise O(log spans).
  Position Locate(size_t i) const {
    const uint64_t origin = spans_.front().start;
    size_t k = i * spans_.size() / size_;
    for (int step = 0; step < 4; ++step) {
      const size_t begin = spans_[k].start - origin;
      if (i < begin) {
        --k;
      } else if (i - begin >= spans_[k].size()) {
        ++k;
      } else {
        return {k, i - begin};
      }
    }
    const Span* after = std::partition_point(
        spans_.begin(), spans_.end(), [&](const Span& span) { return span.start - origin <= i; });
    k = static_cast<size_t>(after - spans_.begin()) - 1;
    return {k, i - (spans_[k].start - origin)};
  }

  void PushBack(Span span) {
    span.start = spans_.empty() ? 0 : spans_.back().start + spans_.back().size();
    size_ += span.size();
    spans_.PushBack(std::move(span));
  }
  void PushFront(Span span) {
    span.start = spans_.empty() ? 0 : spans_.front().start - span.size();
    size_ += span.size();
    spans_.PushFront(std::move(span));
  }

  // One of these must be called after the first or last span has gained one entry or lost `entries`
  // entries at its outer end. Removes a span that has become empty.
  void GrewBack() { ++size_; }
  void GrewFront() {
    ++size_;
    --spans_.front().start;
  }
  void ShrankBack(size_t entries) {
    size_ -= entries;
    if (spans_.back().size() == 0) spans_.Erase(spans_.size() - 1);
  }
  void ShrankFront(size_t entries) {
    size_ -= entries;
    spans_.front().start += entries;
    if (spans_.front().size() == 0) spans_.Erase(0);
  }

  // Must be called after span k has gained `entries` entries at any place (or lost them, if
  // negative). Removes the span if it has become empty. Renumbers the spans on the shorter side:
  // O(distance to the nearer end, in spans).
  void Changed(size_t k, int64_t entries) {
    const auto delta = static_cast<uint64_t>(entries);
    size_ += delta;
    if (k < spans_.size() / 2) {
      for (size_t j = 0; j <= k; ++j) spans_[j].start -= delta;
    } else {
      for (size_t j = k + 1; j < spans_.size(); ++j) spans_[j].start += delta;
    }
    if (spans_[k].size() == 0) spans_.Erase(k);
  }

  // Inserts `tail`, whose entries have just been split off the end of span k, as span k + 1.
  void InsertSplit(size_t k, Span tail) {
    tail.start = spans_[k].start + spans_[k].size();
    spans_.Insert(k + 1, std::move(tail));
  }
  // Drops span k + 1, whose entries have just been appended to span k.
  void EraseMerged(size_t k) { spans_.Erase(k + 1); }

  // Must be called after entries were removed from any spans. Removes the empty spans. Calls
  // join(k, next) for each other span `next`, where span k is the last one before it that stays;
  // join returns true if it has appended span `next` to span k, and then `next` is removed too.
  // Calls gone(k) for each span to be removed, the last one first. O(spans).
  template <typename Join, typename Gone>
  void Tidy(Join&& join, Gone&& gone) {
    size_t kept = spans_.size();
    for (size_t k = 0; k < spans_.size(); ++k) {
      if (spans_[k].size() == 0) continue;
      if (kept < k && join(kept, k)) {
        spans_[k] = Span();
      } else {
        kept = k;
      }
    }
    for (size_t k = spans_.size(); k > 0; --k) {
      if (spans_[k - 1].size() == 0) gone(k - 1);
    }
    spans_.EraseIf([](const Span& span) { return span.size() == 0; });
    size_ = 0;
    for (Span& span : spans_) {
      span.start = size_;
      size_ += span.size();
    }
  }

  size_t HeapUse() const {
    size_t bytes = spans_.HeapUse();
    for (const Span& span : spans_) bytes += span.HeapUse();
    return bytes;
  }

  // Frees whole spans from the back until `entries` or more entries are gone, or none is left.
  void FreeBack(size_t entries) {
    const size_t keep = entries < size_ ? size_ - entries : 0;
    while (size_ > keep) {
      size_ -= spans_.back().size();
      spans_.Erase(spans_.size() - 1);
    }
  }

 private:
  FlatDeque<Span> spans_;
  size_t size_ = 0;
};

}  // namespace tally
