// CLIENT PAUSE, and FAILOVER, which holds back writes until a replica has all of them.
#pragma once

#include <cstdint>

namespace tally::server {

struct Pause {
  int64_t until_ms = 0;  // unix time; commands of other clients wait until then
  bool writes_only = false;
  bool failover = false;

  // Whether anything waits, and whether commands that do not write wait too.
  bool active(int64_t now_ms) const { return until_ms > now_ms || failover; }
  bool holds_reads(int64_t now_ms) const { return until_ms > now_ms && !writes_only; }
};

}  // namespace tally::server
