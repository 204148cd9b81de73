// Counts latencies in buckets that double, each cut in 32: percentiles within 3%.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally::bench {

class LatencyHistogram {
 public:
  void Add(int64_t nanos) {
    const auto value = static_cast<uint64_t>(std::max<int64_t>(nanos, 0));
    ++buckets_[BucketOf(value)];
    ++count_;
    max_ = std::max(max_, value);
  }

  // Milliseconds; the upper bound of the bucket in which the fraction (0-1) is reached.
  double Percentile(double fraction) const {
    const auto wanted = static_cast<uint64_t>(fraction * static_cast<double>(count_));
    uint64_t seen = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen > wanted) return Millis(std::min(UpperBound(i), max_));
    }
    return max();
  }
  double max() const { return Millis(max_); }
  uint64_t count() const { return count_; }

 private:
  static constexpr int kSubBits = 5;
  static constexpr uint64_t kSub = 1 << kSubBits;

  static size_t BucketOf(uint64_t value) {
    if (value < kSub) return value;
    const auto octave = static_cast<uint64_t>(std::bit_width(value)) - 1;
    return (octave - kSubBits + 1) * kSub + (value >> (octave - kSubBits)) % kSub;
  }
  static uint64_t UpperBound(size_t bucket) {
    if (bucket < kSub) return bucket;
    const uint64_t shift = bucket / kSub - 1;
    return ((kSub + bucket % kSub + 1) << shift) - 1;
  }
  static double Millis(uint64_t nanos) { return static_cast<double>(nanos) / 1e6; }

  std::array<uint64_t, 60 * kSub> buckets_{};
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace tally::bench
