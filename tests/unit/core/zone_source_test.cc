#include "core/time/zone_source.h"

#include <catch2/catch.hpp>

#include "core/tzdata/tzdata_zones.h"

namespace tally {
namespace {

TEST_CASE("a source without tzdata knows UTC, and keeps what was stored under other names") {
  UtcOnly zones;
  CHECK(zones.Find("UTC") == &zones.utc());
  CHECK(zones.Find("Asia/Shanghai") == nullptr);
  Zone* stored = zones.FindStored("Asia/Shanghai");
  REQUIRE(stored != nullptr);
  CHECK(stored->is_missing());
  CHECK(stored->name() == "Asia/Shanghai");
  CHECK(zones.FindStored("Asia/Shanghai") == stored);
  CHECK(zones.FindStored("../etc/passwd") == nullptr);
}

TEST_CASE("tzdata's zones are found in any case, each once") {
  TzdataZones zones;
  Zone* zone = zones.Find("asia/SHANGHAI");
  REQUIRE(zone != nullptr);
  CHECK(zone->name() == "Asia/Shanghai");
  CHECK(zones.Find("Asia/Shanghai") == zone);
  CHECK(zones.FindStored("Asia/Shanghai") == zone);
  CHECK(zones.Find("utc") == &zones.utc());
  CHECK(zones.Find("Asia/Nowhere") == nullptr);
  CHECK(zones.Find("/etc/localtime") == nullptr);
  CHECK(zones.FindStored("Asia/Nowhere")->is_missing());
}

}  // namespace
}  // namespace tally
