#include "server/memory/evictor.h"

#include <string>

#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/persistence.h"
#include "server/log/trouble_log.h"
#include "server/memory/memory_usage.h"
#include "server/state/clock.h"
#include "server/state/key_event_feed.h"
#include "server/state/pause.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

constexpr int64_t kSliceMicros = 500;
constexpr size_t kReclaimSlice = 256;

EvictionRule RuleOf(EvictionPolicy policy) {
  using First = EvictionRule::First;
  switch (policy) {
    case EvictionPolicy::kVolatileLru:
      return {First::kLeastRecent, true};
    case EvictionPolicy::kAllkeysLru:
      return {First::kLeastRecent, false};
    case EvictionPolicy::kVolatileLfu:
      return {First::kLeastFrequent, true};
    case EvictionPolicy::kAllkeysLfu:
      return {First::kLeastFrequent, false};
    case EvictionPolicy::kVolatileRandom:
      return {First::kAny, true};
    case EvictionPolicy::kVolatileTtl:
      return {First::kSoonestDue, true};
    case EvictionPolicy::kAllkeysRandom:
    case EvictionPolicy::kNoEviction:
      break;
  }
  return {First::kAny, false};
}

}  // namespace

void Evictor::ApplyConfig() {
  const Config& config = server_.config;
  const EvictionRule rule = RuleOf(config.maxmemory_policy);
  server_.engine.set_access_tracking({rule.first == EvictionRule::First::kLeastFrequent,
                                      config.lfu_log_factor, config.lfu_decay_time});
}

// An eviction must be logged, so it needs a log that can be written. And during CLIENT PAUSE
// nothing should change.
bool Evictor::MayEvict() const {
  return !server_.loading && server_.persistence->write_error().ok() &&
         !server_.pause.active(server_.clock.now_ms());
}

bool Evictor::OverLimit() const {
  return server_.memory.Current() > static_cast<size_t>(server_.config.maxmemory);
}

void Evictor::MakeRoom() {
  out_of_memory_ = behind_ = false;
  if (server_.config.maxmemory == 0 || !MayEvict() || !OverLimit()) return;
  const int64_t begin = Clock::MonotonicMicros();
  while (OverLimit()) {
    if (!FreeSome()) return RunOut();
    if (Clock::MonotonicMicros() - begin < kSliceMicros) continue;
    // If keys may be evicted, the rest may wait for the next commands: each of them frees at least
    // a batch of keys.
    behind_ = true;
    if (server_.config.maxmemory_policy == EvictionPolicy::kNoEviction) RunOut();
    return;
  }
}

void Evictor::RunOut() {
  out_of_memory_ = true;
  server_.trouble.Happens(
      "maxmemory is reached and nothing may be evicted: commands that need memory are refused "
      "(OOM)",
      server_.clock.steady_ms());
}

bool Evictor::FreeSome() {
  Reclaimer& reclaimer = server_.engine.reclaimer();
  if (!reclaimer.empty()) {
    reclaimer.FreeSome(kReclaimSlice);
    return true;
  }
  return server_.config.maxmemory_policy != EvictionPolicy::kNoEviction && EvictBatch();
}

bool Evictor::EvictBatch() {
  const EvictionRule rule = RuleOf(server_.config.maxmemory_policy);
  const int64_t now = server_.clock.now_ms();
  if (!walk_.Next(server_.engine, rule, now, batch_)) return false;
  Keyspace& keyspace = server_.engine.database(batch_.database);
  for (const std::string& key : batch_.keys) {
    const Keyspace::Entry entry = keyspace.FindForWrite(key, now);
    if (!entry) continue;  // its deadline has passed
    const bool frees_at_once = entry.is_heap();
    Evict(entry);
    // Memory of the segment itself is given back only by Pack, for all keys together. So only the
    // erasure of a heap value can be reason to stop here.
    if (frees_at_once && (!server_.engine.reclaimer().empty() || !OverLimit())) break;
  }
  keyspace.Pack(*batch_.segment);
  return true;
}

void Evictor::Evict(const Keyspace::Entry& entry) {
  const std::string key(entry.key());
  server_.engine.database(batch_.database).Erase(entry);
  ++server_.stats.evicted_keys;
  server_.effects.Append(batch_.database, {"DEL", key});
  server_.key_events.Evicted(batch_.database, key);
}

}  // namespace tally::server
