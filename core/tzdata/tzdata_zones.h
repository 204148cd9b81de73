// The time zones of the system's tzdata, each loaded once and kept. It reads files, so it is a
// library of its own, tally::tzdata: a program that embeds tally::core may use other zones.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/time/zone_source.h"

namespace tally {

// Returns the zone of a name that is spelled as in tzdata; nullopt if tzdata has no such name.
// Loading reads files, and abseil remembers every name that it was asked for until the process
// ends. So callers must keep what they loaded, and check names from clients before they call this.
std::optional<Zone> LoadZone(std::string_view name);

class TzdataZones final : public ZoneSource {
 private:
  // The name may be in upper or lower case; the zone's own name is spelled as in tzdata. LoadZone()
  // is called only if tzdata has a file of this name, because abseil remembers every name that it
  // was asked for, and names come from clients.
  Zone* FindNamed(std::string_view name) override;
  std::vector<std::string> ListNames() override;
  Zone* FindOrLoad(const std::string& name);
  // Returns the spelling in tzdata of a name in any case; empty if tzdata has no such name. The
  // first call lists the files of tzdata.
  std::string SpellingOf(std::string_view name);

  absl::node_hash_map<std::string, Zone> zones_;
  // The names in tzdata, keyed by the name in lower case. Empty until first needed.
  absl::flat_hash_map<std::string, std::string> spellings_;
};

}  // namespace tally
