#include "server/durability/progress.h"

namespace tally::server {

uint64_t Progress::Percent(uint64_t done, uint64_t total) {
  return done >= total ? 100
                       : static_cast<uint64_t>(100.0 * static_cast<double>(done) /
                                               static_cast<double>(total));
}

std::optional<int64_t> Progress::SecondsLeft(uint64_t done, uint64_t total, int64_t now_us) const {
  if (done >= total) return 0;
  if (done == 0) return std::nullopt;
  const double rest = static_cast<double>(total - done) / static_cast<double>(done);
  return static_cast<int64_t>(static_cast<double>(now_us - started_us_) * rest / 1e6);
}

bool Progress::ReportDue(int64_t now_us) {
  if (now_us - reported_us_ < kReportMicros) return false;
  reported_us_ = now_us;
  return true;
}

}  // namespace tally::server
