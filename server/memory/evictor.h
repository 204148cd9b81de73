// Keeps the memory in use within maxmemory: frees what waits to be freed, and evicts keys by
// maxmemory-policy.
#pragma once

#include <string_view>

#include "core/engine/eviction_walk.h"

namespace tally::server {

class Clock;
class EffectStream;
class KeyEventFeed;
class MemoryMeter;
class Persistence;
class TroubleLog;
struct Config;
struct Pause;
struct Stats;

inline constexpr std::string_view kOutOfMemoryError =
    "OOM command not allowed when used memory > 'maxmemory'.";

struct EvictorParts {
  Engine& engine;
  const Config& config;
  const Clock& clock;
  Stats& stats;
  EffectStream& effects;
  KeyEventFeed& key_events;
  MemoryMeter& memory;
  TroubleLog& trouble;
  const bool& loading;
  const Pause& pause;
  Persistence* const& persistence;  // set before the first command
};

class Evictor {
 public:
  explicit Evictor(const EvictorParts& server) : server_(server) {}

  // Called before each command and once a turn. While more than maxmemory is in use, it frees
  // memory, for about half a millisecond. If that was not enough, behind() is true. Each evicted
  // key is logged as a deletion.
  void MakeRoom();
  // Whether the last call left more than maxmemory in use and nothing that may be evicted. Commands
  // that need memory are refused then.
  bool out_of_memory() const { return out_of_memory_; }
  bool behind() const { return behind_; }

  // Called when the policy or one of the lfu directives may have changed.
  void ApplyConfig();

 private:
  bool MayEvict() const;
  bool OverLimit() const;
  void RunOut();
  // Returns false if there was nothing to free.
  bool FreeSome();
  bool EvictBatch();
  void Evict(const Keyspace::Entry& entry);

  EvictorParts server_;
  EvictionWalk walk_;
  EvictionWalk::Batch batch_;
  bool out_of_memory_ = false;
  bool behind_ = false;
};

}  // namespace tally::server
