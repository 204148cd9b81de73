// Commands from many connections at once, and how long their replies take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "bench/quota_scale/latency.h"

namespace tally::bench {

struct LoadOptions {
  int port = 0;
  int database = 0;
  size_t connections = 50;
  size_t pipeline = 1;  // commands sent at once by a connection
  // Commands a second, at instants that do not wait for replies: latencies are counted from when a
  // command was due (no coordinated omission). 0: each connection sends as soon as it has its
  // replies.
  double rate = 0;
};

struct LoadResult {
  uint64_t calls = 0;
  uint64_t errors = 0;
  std::string first_error;
  double seconds = 0;
  LatencyHistogram latencies;

  double per_second() const { return static_cast<double>(calls) / seconds; }
};

// `append` appends one command. Goes on while `go_on(elapsed seconds)`, which is asked every few
// milliseconds.
LoadResult RunLoad(const LoadOptions& options, const std::function<void(std::string&)>& append,
                   const std::function<bool(double)>& go_on);

}  // namespace tally::bench
