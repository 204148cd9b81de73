// The time zones that commands have named, each loaded once and kept: rules and values point here.
#pragma once

#include <absl/container/node_hash_map.h>

#include <string>
#include <string_view>

#include "core/time/calendar.h"

namespace tally::server {

class ZoneCache {
 public:
  ZoneCache();

  // The zone of an IANA name, null if the system's tzdata has none of that name. Lives as long as
  // the cache. A name is asked of the library only if tzdata has its file, as the library remembers
  // whatever it was asked for, and names come from clients.
  Zone* Find(std::string_view name);
  Zone& utc() { return *utc_; }

 private:
  absl::node_hash_map<std::string, Zone> zones_;
  Zone* utc_;
};

}  // namespace tally::server
