// The time zones of the system's tzdata, each loaded once and kept. It reads files, so it is a
// library of its own, tally::tzdata: whoever embeds tally::core may bring other zones.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/time/zone_source.h"

namespace tally {

// The zone of a name, spelled as tzdata does; nullopt if it has none of that name. Loading reads
// files, and abseil remembers every name that it was asked for until the process ends: callers
// keep what they loaded, and check names that clients send before they ask.
std::optional<Zone> LoadZone(std::string_view name);

class TzdataZones final : public ZoneSource {
 public:
  // The name may be in upper or lower case; the zone's own name is spelled as tzdata does. A name
  // is asked of the library only if tzdata has its file, as the library remembers whatever it was
  // asked for, and names come from clients.
  Zone* Find(std::string_view name) override;

 private:
  Zone* FindOrLoad(const std::string& name);
  // How tzdata spells a name that has no file as it is; empty if it has none at all. Lists the
  // files of tzdata the first time.
  std::string SpellingOf(std::string_view name);

  absl::node_hash_map<std::string, Zone> zones_;
  // Names of tzdata by their lower case; empty until one is needed.
  absl::flat_hash_map<std::string, std::string> spellings_;
};

}  // namespace tally
