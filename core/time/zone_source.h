// Where time zones come from: rules and values name them, and core reads no files.
#pragma once

#include <absl/container/node_hash_map.h>

#include <string>
#include <string_view>

#include "core/time/calendar.h"

namespace tally {

// Zones live as long as their source, at one place: rules and values point there. Not for use by
// two threads at once.
class ZoneSource {
 public:
  ZoneSource() = default;
  virtual ~ZoneSource() = default;
  ZoneSource(const ZoneSource&) = delete;
  ZoneSource& operator=(const ZoneSource&) = delete;

  // The zone of an IANA name, null if the source has none of that name. A name may be any bytes.
  virtual Zone* Find(std::string_view name) = 0;
  // The same for a name that was stored, which this source may lack: then a zone that is_missing().
  // Null only if no zone can have such a name.
  Zone* FindStored(std::string_view name);
  Zone& utc() { return utc_; }

 private:
  Zone utc_;
  absl::node_hash_map<std::string, Zone> missing_;
};

// UTC and nothing else, for programs that name no zones.
class UtcOnly final : public ZoneSource {
 public:
  Zone* Find(std::string_view name) override { return name == "UTC" ? &utc() : nullptr; }
};

}  // namespace tally
