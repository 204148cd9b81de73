// The last hour of what the page draws: each second of the last ten minutes, and each ten seconds
// of the hour. At most 100 KB, whatever the server does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "server/interfaces/services.h"
#include "server/state/stats.h"

namespace tally::server {

// What has been counted until an instant, and what is so then.
struct FigureTotals {
  int64_t at_ms = 0;         // unix ms
  int64_t monotonic_us = 0;  // the same instant, by a clock that nobody sets
  uint64_t requests = 0;
  uint64_t allowed = 0;
  uint64_t denied = 0;
  uint64_t errors = 0;
  DurationHistogram turns;
  uint64_t used_bytes = 0;
  uint64_t resident_bytes = 0;
  bool refuses = false;  // some commands or all are refused, see Refusal()
};

// What was counted in the time between two totals, and what was so at its end.
struct FigurePoint {
  int64_t at_ms = 0;    // unix ms, of the end
  int64_t span_ms = 0;  // how long it was; above 0
  uint64_t requests = 0;
  uint64_t allowed = 0;
  uint64_t denied = 0;
  uint64_t errors = 0;
  // Turns of the event loop; the upper bounds of their buckets.
  uint64_t p50_us = 0;
  uint64_t p99_us = 0;
  uint64_t longest_us = 0;
  uint64_t used_bytes = 0;
  uint64_t resident_bytes = 0;
  bool refuses = false;
};

class FigureHistory {
 public:
  struct Scale {
    int64_t step_ms;
    size_t points;  // kept
  };
  static constexpr Scale kFine{1'000, 600};
  static constexpr Scale kCoarse{10'000, 360};

  // Whether a step of the fine scale has passed since the last Add.
  bool IsDue(int64_t monotonic_us) const;
  // Makes a point of what has happened since the last call; the first call makes none. Points that
  // lie after it, as the clock was set back, are dropped.
  void Add(const FigureTotals& totals);
  size_t MemoryBytes() const;
  // Appends {"fields":[…],"fine":[[…],…],"coarse":[[…],…]}, the oldest points first.
  void AppendJson(std::string& out) const;
  // Appends {"fine":[…],"coarse":[…]}, the latest point of each scale; [] if there is none.
  void AppendLatest(std::string& out) const;
  // The latest point of the fine scale; null if there is none.
  const FigurePoint* latest() const;

 private:
  // The points of one scale, the oldest first.
  class Course {
   public:
    explicit Course(const Scale& scale) : scale_(scale) {}
    void Add(const FigureTotals& totals);
    bool IsDue(int64_t monotonic_us) const;
    const std::deque<FigurePoint>& points() const { return points_; }

   private:
    Scale scale_;
    FigureTotals before_;
    bool begun_ = false;
    std::deque<FigurePoint> points_;
  };

  Course fine_{kFine};
  Course coarse_{kCoarse};
};

// Reads what there is now. Takes some microseconds.
FigureTotals ReadTotals(const Services& server);

}  // namespace tally::server
