// Holds the memory in use to maxmemory, by freeing what waits to be freed and by evicting keys as
// maxmemory-policy says.
#pragma once

#include <string_view>

#include "core/engine/eviction_walk.h"

namespace tally::server {

struct Services;

inline constexpr std::string_view kOutOfMemoryError =
    "OOM command not allowed when used memory > 'maxmemory'.";

class Evictor {
 public:
  explicit Evictor(Services& server) : server_(server) {}

  // To be called before each command and once a turn. While more than maxmemory is in use it frees,
  // for about half a millisecond; when that was not enough it is behind(). Each evicted key is
  // logged as a deletion.
  void MakeRoom();
  // The last call left more than maxmemory in use and nothing that may be evicted: commands that
  // need memory are refused.
  bool out_of_memory() const { return out_of_memory_; }
  bool behind() const { return behind_; }

  // The policy, or one of the lfu directives, may have changed.
  void ApplyConfig();

 private:
  bool MayEvict() const;
  bool OverLimit() const;
  // False if there was nothing to free.
  bool FreeSome();
  bool EvictBatch();
  void Evict(const Keyspace::Entry& entry);

  Services& server_;
  EvictionWalk walk_;
  EvictionWalk::Batch batch_;
  bool out_of_memory_ = false;
  bool behind_ = false;
};

}  // namespace tally::server
