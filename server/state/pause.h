// CLIENT PAUSE.
#pragma once

#include <cstdint>

namespace tally::server {

struct Pause {
  int64_t until_ms = 0;  // unix time; commands of other clients wait until then
  bool writes_only = false;
};

}  // namespace tally::server
