#include "core/time/zone_source.h"

#include <catch2/catch.hpp>

#include "core/tzdata/tzdata_zones.h"

namespace tally::zone_source_test {
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

TEST_CASE("a zone is found by its id") {
  TzdataZones zones;
  for (const char* name :
       {"UTC", "Asia/Shanghai", "America/St_Johns", "+08:00", "-14:00", "-00:01"}) {
    INFO(name);
    Zone* zone = zones.Find(name);
    REQUIRE(zone != nullptr);
    CHECK(Zone::IdOf(name) == zone->id());
    CHECK(zones.FindId(zone->id()) == zone);
  }
  CHECK(zones.FindId(1) == nullptr);
  UtcOnly utc;
  CHECK(utc.FindId(0) == &utc.utc());
  CHECK(utc.FindId(Zone::IdOf("Asia/Shanghai")) == nullptr);
  CHECK(utc.FindId(Zone::IdOf("+05:45"))->name() == "+05:45");
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
}  // namespace tally::zone_source_test
