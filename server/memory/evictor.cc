#include "server/memory/evictor.h"

#include <string>

#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/replication.h"
#include "server/log/trouble_log.h"
#include "server/memory/memory_usage.h"
#include "server/state/clock.h"
#include "server/state/key_event_feed.h"
#include "server/state/pause.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

constexpr int64_t kEvictionSliceMicros = 500;
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

// A replica holds what its primary holds. An eviction must be logged, so it needs a log that can be
// written. And during CLIENT PAUSE nothing should change.
bool MayEvict(const Services& server) {
  if (server.role.is_replica && server.config.replica_ignore_maxmemory) return false;
  return !server.loading && server.persistence->write_error().ok() &&
         !server.pause.active(server.clock);
}

bool OverLimit(const Services& server) {
  const size_t most = static_cast<size_t>(server.config.maxmemory) + server.replicas->slow_bytes();
  return server.memory.Current() > most;
}

}  // namespace

void Evictor::ApplyConfig(const Services& server) {
  const Config& config = server.config;
  const EvictionRule rule = RuleOf(config.maxmemory_policy);
  server.engine.set_access_tracking({rule.first == EvictionRule::First::kLeastFrequent,
                                     config.lfu_log_factor, config.lfu_decay_time,
                                     server.clock.now_ms() - server.clock.elapsed_ms()});
}

void Evictor::MakeRoom(const Services& server) {
  out_of_memory_ = behind_ = false;
  if (server.config.maxmemory == 0 || !MayEvict(server) || !OverLimit(server)) return;
  const int64_t begin_us = Clock::MonotonicMicros();
  while (OverLimit(server)) {
    if (!FreeSome(server)) return RunOut(server);
    if (Clock::MonotonicMicros() - begin_us < kEvictionSliceMicros) continue;
    // If keys may be evicted, the rest may wait for the next commands: each of them frees at least
    // a batch of keys.
    behind_ = true;
    if (server.config.maxmemory_policy == EvictionPolicy::kNoEviction) RunOut(server);
    return;
  }
}

void Evictor::RunOut(const Services& server) {
  out_of_memory_ = true;
  server.troubles.memory.Happens(
      "maxmemory is reached and nothing may be evicted: commands that need memory are refused "
      "(OOM)",
      server.clock.steady_ms());
}

bool Evictor::FreeSome(const Services& server) {
  Reclaimer& reclaimer = server.engine.reclaimer();
  if (!reclaimer.empty()) {
    reclaimer.FreeSome(kReclaimSlice);
    return true;
  }
  return server.config.maxmemory_policy != EvictionPolicy::kNoEviction && EvictBatch(server);
}

bool Evictor::EvictBatch(const Services& server) {
  const EvictionRule rule = RuleOf(server.config.maxmemory_policy);
  const int64_t now_ms = server.clock.now_ms();
  if (!walk_.Next(server.engine, rule, now_ms, batch_)) return false;
  Keyspace& keyspace = server.engine.database(batch_.database);
  for (const std::string& key : batch_.keys) {
    const Keyspace::Entry entry = keyspace.FindForWrite(key, now_ms);
    if (!entry) continue;  // its deadline has passed
    const bool frees_at_once = entry.is_heap();
    Evict(server, entry);
    // Memory of the segment itself is given back only by Pack, for all keys together. So only the
    // erasure of a heap value can be reason to stop here.
    if (frees_at_once && (!server.engine.reclaimer().empty() || !OverLimit(server))) break;
  }
  keyspace.Pack(*batch_.segment);
  return true;
}

void Evictor::Evict(const Services& server, const Keyspace::Entry& entry) const {
  const std::string key(entry.key());
  server.engine.database(batch_.database).Erase(entry);
  ++server.stats.evicted_keys;
  server.effects.Append(batch_.database, {"DEL", key});
  server.key_events.Evicted(batch_.database, key);
}

}  // namespace tally::server
