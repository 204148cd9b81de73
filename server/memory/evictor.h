// Keeps the memory in use within maxmemory: frees what waits to be freed, and evicts keys by
// maxmemory-policy.
#pragma once

#include <string_view>

#include "core/engine/eviction_walk.h"
#include "server/interfaces/services.h"

namespace tally::server {

inline constexpr std::string_view kOutOfMemoryError =
    "OOM command not allowed when used memory > 'maxmemory'.";

class Evictor {
 public:
  // Called before each command and once a turn. While more than maxmemory is in use, it frees
  // memory, for about half a millisecond. If that was not enough, behind() is true. Each evicted
  // key is logged as a deletion.
  void MakeRoom(const Services& server);
  // Whether the last call left more than maxmemory in use and nothing that may be evicted. Commands
  // that need memory are refused then.
  bool out_of_memory() const { return out_of_memory_; }
  bool behind() const { return behind_; }

  // Called when the policy or one of the lfu directives may have changed, or the clock was set.
  static void ApplyConfig(const Services& server);

 private:
  void RunOut(const Services& server);
  // Returns false if there was nothing to free.
  bool FreeSome(const Services& server);
  bool EvictBatch(const Services& server);
  void Evict(const Services& server, const Keyspace::Entry& entry) const;

  EvictionWalk walk_;
  EvictionWalk::Batch batch_;
  bool out_of_memory_ = false;
  bool behind_ = false;
};

}  // namespace tally::server
