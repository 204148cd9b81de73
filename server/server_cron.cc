// What the server does beside serving: a little at each turn's end, and the rest by the clock.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/server.h"
#include "server/state/client_text.h"

namespace tally::server {
namespace {

constexpr auto kCronInterval = std::chrono::milliseconds(50);
// What expiry and reclaiming may take of one turn.
constexpr int64_t kHousekeepingMicros = 1000;
constexpr size_t kReclaimSlice = 256;
// What sweeping quota books may take of one cron tick.
constexpr int64_t kSweepMicros = 500;

}  // namespace

// While the log takes nothing, the keys stay: their ends could not be logged.
bool Server::MayExpire() const {
  return state_.active_expire && !state_.loading && persistence_.write_error().ok();
}

void Server::Housekeeping() {
  const int64_t begin = Clock::MonotonicMicros();
  const auto more = [&] { return Clock::MonotonicMicros() - begin < kHousekeepingMicros; };
  if (MayExpire()) engine_.ExpireSome(state_.clock.now_ms(), more);
  while (!engine_.reclaimer().empty() && more()) engine_.reclaimer().FreeSome(kReclaimSlice);
  state_.evictor.MakeRoom();
}

void Server::WaitForCron() {
  cron_.expires_after(kCronInterval);
  cron_.async_wait([this](const std::error_code& error) {
    if (error) return;
    turn_clock_.Begin();
    if (!state_.script_busy) Cron();
    WaitForCron();
  });
}

void Server::Cron() {
  const int64_t now_us = Clock::MonotonicMicros();
  Stats& stats = state_.stats;
  stats.operations_rate.Sample(stats.commands_processed, now_us);
  stats.input_rate.Sample(stats.net_input_bytes, now_us);
  stats.output_rate.Sample(stats.net_output_bytes, now_us);
  state_.memory.Sample();
  persistence_.Cron();
  SweepValues();
  CloseIdleClients();
  EvictClients();
  listeners_.Wake();
  listeners_.ReportRecovery();
}

void Server::SweepValues() {
  if (!MayExpire()) return;
  const int64_t begin = Clock::MonotonicMicros();
  engine_.SweepSome(state_.clock.now_ms(),
                    [&] { return Clock::MonotonicMicros() - begin < kSweepMicros; });
}

void Server::CloseIdleClients() {
  const int64_t limit_ms = config_.timeout * int64_t{1000};
  const int64_t now = state_.clock.now_ms();
  connections_.ForEach([&](Connection& connection) {
    const Client& client = connection.client();
    const bool idle = limit_ms > 0 && now - client.last_active_ms > limit_ms &&
                      !client.subscribed() && !client.monitor;
    if (idle) connection.Close();
    connection.LimitOutput();
  });
}

// maxmemory-clients: those that hold most go first.
void Server::EvictClients() {
  const int64_t setting = config_.maxmemory_clients;
  const int64_t limit = setting < 0 ? config_.maxmemory / 100 * -setting : setting;
  if (limit == 0) return;
  int64_t sum = 0;
  std::vector<std::pair<int64_t, Connection*>> by_memory;
  connections_.ForEach([&](Connection& connection) {
    const auto bytes = static_cast<int64_t>(ClientMemory(connection.client()));
    sum += bytes;
    if (!connection.client().no_evict) by_memory.emplace_back(bytes, &connection);
  });
  if (sum <= limit) return;
  std::sort(by_memory.rbegin(), by_memory.rend());
  for (const auto& [bytes, connection] : by_memory) {
    if (sum <= limit) break;
    sum -= bytes;
    ++state_.stats.evicted_clients;
    log_.Notice("Evicting a client: ", connection->client().address, ", ", bytes, " bytes");
    connection->Close();
  }
}

}  // namespace tally::server
