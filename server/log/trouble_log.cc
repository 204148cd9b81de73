#include "server/log/trouble_log.h"

namespace tally::server {
namespace {

constexpr int64_t kRepeatMs = 60'000;
constexpr int64_t kCalmMs = 5000;

}  // namespace

void TroubleLog::Happens(std::string_view what, int64_t steady_ms) {
  seen_ms_ = steady_ms;
  if (!active_) {
    active_ = true;
    begun_ms_ = logged_ms_ = steady_ms;
    log_.Warning(what);
  } else if (steady_ms - logged_ms_ >= kRepeatMs) {
    logged_ms_ = steady_ms;
    log_.Warning("Still, after ", (steady_ms - begun_ms_) / 1000, " s: ", what);
  }
}

void TroubleLog::Tick(int64_t steady_ms) {
  if (!active_ || steady_ms - seen_ms_ < kCalmMs) return;
  active_ = false;
  log_.Notice(over_);
}

}  // namespace tally::server
