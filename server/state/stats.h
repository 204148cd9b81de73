// Counters for INFO. Plain numbers: one thread writes and reads them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/command/command_host.h"

namespace tally::server {

// Counts durations in buckets. Each power of two is divided into four buckets, so a percentile, the
// upper bound of a bucket, is less than 25% too high.
class DurationHistogram {
 public:
  void Add(uint64_t micros, uint64_t times = 1) {
    buckets_[micros < kSub ? micros : LongBucketOf(micros)] += times;
    count_ += times;
  }
  // Returns the upper bound, in microseconds, of the bucket in which this fraction (0-1) of the
  // durations is reached; 0 if there are none.
  uint64_t Percentile(double fraction) const;
  uint64_t count() const { return count_; }
  // Returns what was added after `before`, an earlier copy of this histogram; all, if it has been
  // reset since. O(buckets).
  DurationHistogram Since(const DurationHistogram& before) const;
  // Sets counts[i] to how many durations were below bounds[i], which are powers of two of at least
  // 4 microseconds, ascending. O(buckets).
  void CountsBelow(std::span<const uint64_t> bounds, std::span<uint64_t> counts) const;
  // Returns how many durations were at most 1, 2, 4, 8 … microseconds, as pairs of bound and
  // number. Only bounds at which the number grows are listed. A bucket counts at the first of these
  // bounds that is not below its upper bound.
  std::vector<std::pair<uint64_t, uint64_t>> CumulativeByPowers() const;
  // The same, with the upper bound of each bucket that is not empty.
  std::vector<std::pair<uint64_t, uint64_t>> Cumulative() const;

 private:
  static constexpr int kSub = 4;
  // Requires at least kSub; a shorter duration is its own bucket.
  static size_t LongBucketOf(uint64_t micros);
  static uint64_t UpperBound(size_t bucket);
  std::array<uint64_t, 40 * kSub> buckets_{};
  uint64_t count_ = 0;
};

struct CommandStats {
  uint64_t calls = 0;
  uint64_t micros = 0;
  uint64_t rejected = 0;
  uint64_t failed = 0;
  DurationHistogram durations;
};

// The rate of a growing count: the mean of the rates between the last kSamples + 1 samples.
// PeriodicWork samples every 50 ms, so this covers 0.8 s.
class RateMeter {
 public:
  void Sample(uint64_t total, int64_t now_us);
  uint64_t per_second() const;

 private:
  static constexpr size_t kSamples = 16;
  std::array<uint64_t, kSamples> rates_{};
  size_t next_ = 0;
  uint64_t last_total_ = 0;
  int64_t last_us_ = 0;
};

struct Stats {
  explicit Stats(size_t commands) : by_command(commands) {}
  // Sets everything to zero that CONFIG RESETSTAT resets: all but changes_since_save.
  void Reset();
  // Counts an error reply. `error` is its text; its first word is the kind of error.
  void CountError(std::string_view error);

  int64_t reset_ms = 0;  // unix time of the last CONFIG RESETSTAT; 0: there was none
  uint64_t connections_received = 0;
  uint64_t connections_rejected = 0;
  uint64_t commands_processed = 0;
  uint64_t net_input_bytes = 0;
  uint64_t net_output_bytes = 0;
  uint64_t socket_reads = 0;
  uint64_t socket_writes = 0;
  Lookups lookups;
  uint64_t expired_keys = 0;
  uint64_t evicted_keys = 0;
  uint64_t evicted_clients = 0;
  uint64_t error_replies = 0;
  // The error that a script is about to reply was counted when its command failed.
  bool error_is_counted = false;
  uint64_t client_query_limit_disconnections = 0;
  uint64_t client_output_limit_disconnections = 0;
  uint64_t changes_since_save = 0;
  std::map<std::string, uint64_t, std::less<>> errors;
  std::vector<CommandStats> by_command;  // by CommandEntry::id

  RateMeter operations_rate;
  RateMeter input_rate;
  RateMeter output_rate;
};

}  // namespace tally::server
