#include "server/state/stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace tally::server {
namespace {

// Only this many kinds of errors are counted one by one; further kinds count only in error_replies.
// A client could invent any number of them in scripts.
constexpr size_t kMaxErrorKinds = 128;

}  // namespace

size_t DurationHistogram::LongBucketOf(uint64_t micros) {
  const auto octave = static_cast<size_t>(std::bit_width(micros)) - 1;  // at least 2
  const size_t quarter = (micros >> (octave - 2)) & 3;
  return std::min((octave - 1) * kSub + quarter, size_t{40 * kSub - 1});
}

uint64_t DurationHistogram::UpperBound(size_t bucket) {
  if (bucket < kSub) return bucket;
  const size_t octave = bucket / kSub + 1;
  return ((uint64_t{4} + bucket % kSub + 1) << (octave - 2)) - 1;
}

uint64_t DurationHistogram::Percentile(double fraction) const {
  const auto wanted = static_cast<uint64_t>(std::llround(fraction * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= wanted && seen > 0) return UpperBound(i);
  }
  return 0;
}

DurationHistogram DurationHistogram::Since(const DurationHistogram& before) const {
  DurationHistogram grown;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] < before.buckets_[i]) return *this;
    grown.buckets_[i] = buckets_[i] - before.buckets_[i];
  }
  grown.count_ = count_ - before.count_;
  return grown;
}

std::vector<std::pair<uint64_t, uint64_t>> DurationHistogram::CumulativeByPowers() const {
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  uint64_t seen = 0;
  size_t next = 0;
  for (uint64_t bound = 1; next < buckets_.size(); bound *= 2) {
    const uint64_t before = seen;
    for (; next < buckets_.size() && UpperBound(next) <= bound; ++next) seen += buckets_[next];
    if (seen > before) steps.emplace_back(bound, seen);
  }
  return steps;
}

void DurationHistogram::CountsBelow(std::span<const uint64_t> bounds,
                                    std::span<uint64_t> counts) const {
  uint64_t seen = 0;
  size_t next = 0;
  for (size_t i = 0; i < bounds.size(); ++i) {
    for (; next < buckets_.size() && UpperBound(next) < bounds[i]; ++next) seen += buckets_[next];
    counts[i] = seen;
  }
}

std::vector<std::pair<uint64_t, uint64_t>> DurationHistogram::Cumulative() const {
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (buckets_[bucket] == 0) continue;
    seen += buckets_[bucket];
    steps.emplace_back(UpperBound(bucket), seen);
  }
  return steps;
}

void RateMeter::Sample(uint64_t total, int64_t now_us) {
  const int64_t passed_us = now_us - last_us_;
  if (last_us_ != 0 && passed_us > 0 && total >= last_total_) {
    rates_[next_] = (total - last_total_) * 1'000'000 / static_cast<uint64_t>(passed_us);
    next_ = (next_ + 1) % kSamples;
  }
  last_total_ = total;
  last_us_ = now_us;
}

uint64_t RateMeter::per_second() const {
  return std::accumulate(rates_.begin(), rates_.end(), uint64_t{0}) / kSamples;
}

void Stats::Reset() {
  const uint64_t unsaved = changes_since_save;
  *this = Stats(by_command.size());
  changes_since_save = unsaved;
}

void Stats::CountError(std::string_view error) {
  ++error_replies;
  const std::string_view kind = error.substr(0, error.find(' '));
  const auto it = errors.find(kind);
  if (it != errors.end()) {
    ++it->second;
  } else if (errors.size() < kMaxErrorKinds) {
    errors.emplace(kind, 1);
  }
}

}  // namespace tally::server
