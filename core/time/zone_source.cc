#include "core/time/zone_source.h"

namespace tally {

Zone* ZoneSource::FindStored(std::string_view name) {
  if (Zone* zone = Find(name); zone != nullptr) return zone;
  if (!Zone::IsName(name)) return nullptr;
  return &missing_.try_emplace(std::string(name), Zone::Missing(name)).first->second;
}

}  // namespace tally
