#include "server/loop/data_upkeep.h"

#include <cstddef>
#include <cstdint>

#include "core/engine/engine.h"
#include "server/interfaces/persistence.h"
#include "server/memory/evictor.h"
#include "server/state/clock.h"
#include "server/state/pause.h"

namespace tally::server {
namespace {

// The time that expiry and reclaiming may take of one turn.
constexpr int64_t kSliceMicros = 1000;
constexpr size_t kReclaimedTogether = 256;
// The time that all of Sweep() may take of one tick.
constexpr int64_t kSweepMicros = 500;

}  // namespace

// While the log cannot be written, keys do not expire, because their deletion could not be logged.
// On a replica the primary does all this. While writes are paused the stream must not change: a
// replica may be about to take over.
bool DataUpkeep::MayExpire() const {
  return server_.active_expire && !server_.loading && !server_.role.is_replica &&
         server_.persistence->write_error().ok() && !server_.pause.active(server_.clock);
}

bool DataUpkeep::HasWork() const {
  return server_.evictor.behind() || !server_.engine.reclaimer().empty();
}

// Most turns come in the millisecond of the turn before, and find nothing new to expire.
void DataUpkeep::Slice() {
  const bool expires = server_.clock.now_ms() != expired_at_ms_ && MayExpire();
  if (expires || !server_.engine.reclaimer().empty()) Free(expires);
  server_.evictor.MakeRoom(server_);
}

void DataUpkeep::Free(bool expires) {
  const int64_t begin_us = Clock::MonotonicMicros();
  const auto more = [&] { return Clock::MonotonicMicros() - begin_us < kSliceMicros; };
  Engine& engine = server_.engine;
  if (expires) {
    const int64_t now_ms = server_.clock.now_ms();
    expired_at_ms_ = engine.ExpireSome(now_ms, more) ? -1 : now_ms;
  }
  while (!engine.reclaimer().empty() && more()) engine.reclaimer().FreeSome(kReclaimedTogether);
}

void DataUpkeep::Sweep() {
  if (!MayExpire()) return;
  const int64_t begin_us = Clock::MonotonicMicros();
  const auto more = [&] { return Clock::MonotonicMicros() - begin_us < kSweepMicros; };
  server_.engine.SweepSome(server_.clock.now_ms(), more);
  while (set_back_.goes_on() && more()) set_back_.Next();
}

}  // namespace tally::server
