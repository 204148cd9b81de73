// The time zones that commands have named, each loaded once and kept: rules and values point here.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <string>
#include <string_view>

#include "core/time/calendar.h"

namespace tally::server {

class ZoneCache {
 public:
  ZoneCache();

  // The zone of an IANA name, in upper or lower case, null if the system's tzdata has none of that
  // name; its own name is spelled as tzdata does. Lives as long as the cache. A name is asked of
  // the library only if tzdata has its file, as the library remembers whatever it was asked for,
  // and names come from clients.
  Zone* Find(std::string_view name);
  // The same for a name that the files hold, which this machine's tzdata may lack: then a zone that
  // is_missing(). Null only if no zone has such a name.
  Zone* FindStored(std::string_view name);
  Zone& utc() { return *utc_; }

 private:
  Zone* FindOrLoad(const std::string& name);
  // How tzdata spells a name that has no file as it stands; empty if it has none at all. Lists the
  // files of tzdata the first time.
  std::string SpellingOf(std::string_view name);

  absl::node_hash_map<std::string, Zone> zones_;
  absl::node_hash_map<std::string, Zone> missing_;
  Zone* utc_;
  // Names of tzdata by their lower case; empty until one is needed.
  absl::flat_hash_map<std::string, std::string> spellings_;
};

}  // namespace tally::server
