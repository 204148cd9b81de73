// Finds time zones by their names. Rules and values name zones, but core reads no files, so it gets
// them through this interface.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/time/calendar.h"

namespace tally {

// Zones live as long as their source and do not move, because rules and values point to them. Must
// not be used by two threads at once.
class ZoneSource {
 public:
  ZoneSource() = default;
  virtual ~ZoneSource() = default;
  ZoneSource(const ZoneSource&) = delete;
  ZoneSource& operator=(const ZoneSource&) = delete;

  // The zone of an IANA name or of an offset, as `+08:00`; null if the source has none of that
  // name. `name` may be any bytes.
  Zone* Find(std::string_view name);
  // The same for a name that was stored. If this source lacks it, returns a zone that is_missing().
  // Null only if no zone can have such a name.
  Zone* FindStored(std::string_view name);
  // The zone that has this Zone::id(); null if the source has none. The first call lists the names
  // of all zones.
  Zone* FindId(uint32_t id);
  Zone& utc() { return utc_; }

 private:
  // Finds the zone of any name but UTC's and an offset's.
  virtual Zone* FindNamed(std::string_view name) = 0;
  // The names that FindNamed() knows.
  virtual std::vector<std::string> ListNames() { return {}; }

  Zone utc_;
  absl::node_hash_map<std::string, Zone> offsets_;
  absl::node_hash_map<std::string, Zone> missing_;
  absl::flat_hash_map<uint32_t, std::string> names_;  // by id; empty until first needed
};

// UTC and nothing else, for programs that name no zones.
class UtcOnly final : public ZoneSource {
 private:
  Zone* FindNamed(std::string_view) override { return nullptr; }
};

}  // namespace tally
