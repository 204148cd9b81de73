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

// Counts durations in buckets that double, each cut in four: percentiles within 12.5%.
class DurationHistogram {
 public:
  void Add(uint64_t micros, uint64_t times = 1);
  // The upper bound of the bucket in which the fraction (0-1) of the durations is reached.
  uint64_t Percentile(double fraction) const;
  uint64_t count() const { return count_; }
  // Sets counts[i] to how many durations were below bounds[i], which are powers of two of at least
  // 4 microseconds, ascending. O(buckets).
  void CountsBelow(std::span<const uint64_t> bounds, std::span<uint64_t> counts) const;
  // How many durations were at most 1, 2, 4, 8 … microseconds, up to the bucket's precision; only
  // the steps at which the number grows.
  std::vector<std::pair<uint64_t, uint64_t>> CumulativeByPowers() const;
  // The same at the upper bound of each bucket that holds any.
  std::vector<std::pair<uint64_t, uint64_t>> Cumulative() const;

 private:
  static constexpr int kSub = 4;
  static size_t BucketOf(uint64_t micros);
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

// A rate over the last seconds, from samples of a growing count.
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
  // What CONFIG RESETSTAT sets back to zero.
  void Reset();
  // `error` is a reply's text: its first word is counted.
  void CountError(std::string_view error);

  uint64_t connections_received = 0;
  uint64_t connections_rejected = 0;
  uint64_t commands_processed = 0;
  uint64_t net_input_bytes = 0;
  uint64_t net_output_bytes = 0;
  Lookups lookups;
  uint64_t expired_keys = 0;
  uint64_t evicted_keys = 0;
  uint64_t evicted_clients = 0;
  uint64_t error_replies = 0;
  uint64_t client_query_limit_disconnections = 0;
  uint64_t client_output_limit_disconnections = 0;
  uint64_t changes_since_save = 0;
  std::map<std::string, uint64_t, std::less<>> errors;
  std::vector<CommandStats> by_command;  // by CommandTable::Item::id

  RateMeter operations_rate;
  RateMeter input_rate;
  RateMeter output_rate;
};

}  // namespace tally::server
