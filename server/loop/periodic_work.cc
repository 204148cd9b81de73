#include "server/loop/periodic_work.h"

#include <chrono>
#include <cstdint>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/figures/figure_history.h"
#include "server/interfaces/persistence.h"
#include "server/log/trouble_log.h"
#include "server/memory/memory_usage.h"
#include "server/state/clock.h"
#include "server/state/stats.h"
#include "server/web/live_figures.h"

namespace tally::server {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(50);
constexpr int64_t kPublishMicros = 1'000'000;

}  // namespace

void PeriodicWork::Start() { timer_.ExpireEvery(kInterval); }

void PeriodicWork::Tick() {
  turn_clock_.Begin();
  // Who looks at the page sees that a script keeps all others waiting.
  PublishEvents();
  if (server_.script_busy) return;
  ReportTroubles();
  SampleRates();
  server_.memory.Sample();
  parts_.persistence.Cron();
  parts_.data.Sweep();
  parts_.clients.Apply();
  parts_.replica.Tick();
  parts_.replicas.Tick();
  parts_.waits.Tick();
  parts_.listeners.Wake();
  if (server_.history.IsDue(Clock::MonotonicMicros())) {
    server_.history.Add(ReadTotals(server_));
  }
}

// Comes before the log is repaired, so that a trouble of one moment has its lines too.
void PeriodicWork::ReportTroubles() {
  const int64_t now_ms = server_.clock.steady_ms();
  const absl::Status& error = parts_.persistence.write_error();
  if (!error.ok()) {
    server_.troubles.writes.Happens(
        StrCat("The append-only file cannot be written: ", std::string(error.message()),
               ". Writes are refused (MISCONF)"),
        now_ms);
  } else if (!parts_.persistence.accepts_writes()) {
    server_.troubles.writes.Happens(
        "No snapshot can be saved, and no log keeps the data. Writes are refused (MISCONF, "
        "stop-writes-on-bgsave-error)",
        now_ms);
  }
  server_.troubles.Tick(now_ms);
}

void PeriodicWork::SampleRates() {
  const int64_t now_us = Clock::MonotonicMicros();
  Stats& stats = server_.stats;
  stats.operations_rate.Sample(stats.commands_processed, now_us);
  stats.input_rate.Sample(stats.net_input_bytes, now_us);
  stats.output_rate.Sample(stats.net_output_bytes, now_us);
}

void PeriodicWork::PublishEvents() {
  if (parts_.events.empty()) return;
  const int64_t now_us = Clock::MonotonicMicros();
  if (now_us - published_us_ < kPublishMicros) return parts_.events.Continue();
  published_us_ = now_us;
  parts_.events.Publish(kLiveEvent, LiveFigures(server_));
}

}  // namespace tally::server
