// How far a long task has come, and how long the rest will take at the average speed so far.
#pragma once

#include <cstdint>
#include <optional>

namespace tally::server {

class Progress {
 public:
  // Times are microseconds of a clock that never goes back.
  explicit Progress(int64_t now_us) : started_us_(now_us), reported_us_(now_us) {}

  // How much of `total` units is done, in whole percent; 100 if `total` is 0.
  static uint64_t Percent(uint64_t done, uint64_t total);
  // Returns nullopt while `done` is 0 and less than `total`.
  std::optional<int64_t> SecondsLeft(uint64_t done, uint64_t total, int64_t now_us) const;
  int64_t started_us() const { return started_us_; }

  // Whether the caller should now report to the server's log. True at most once in kReportMicros.
  bool ReportDue(int64_t now_us);
  static constexpr int64_t kReportMicros = 3'000'000;

 private:
  int64_t started_us_;
  int64_t reported_us_;
};

}  // namespace tally::server
