#include "core/time/zone_source.h"

#include <optional>
#include <utility>

namespace tally {

Zone* ZoneSource::Find(std::string_view name) {
  if (name == "UTC") return &utc_;
  std::optional<Zone> zone = Zone::OfOffset(name);
  if (!zone) return FindNamed(name);
  if (zone->id() == 0) return &utc_;
  return &offsets_.try_emplace(std::string(name), *std::move(zone)).first->second;
}

Zone* ZoneSource::FindStored(std::string_view name) {
  if (Zone* zone = Find(name); zone != nullptr) return zone;
  if (!Zone::IsName(name)) return nullptr;
  return &missing_.try_emplace(std::string(name), Zone::Missing(name)).first->second;
}

Zone* ZoneSource::FindId(uint32_t id) {
  if (names_.empty()) {
    names_.emplace(utc_.id(), utc_.name());
    for (std::string& name : ListNames()) names_.try_emplace(Zone::IdOf(name), std::move(name));
    for (std::string& name : Zone::OffsetNames()) {
      names_.try_emplace(Zone::IdOf(name), std::move(name));
    }
  }
  const auto found = names_.find(id);
  return found == names_.end() ? nullptr : Find(found->second);
}

}  // namespace tally
