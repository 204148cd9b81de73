// A program that embeds tally::core and takes its time zones from the system.
#include <tally/engine/limits.h>
#include <tally/tzdata/tzdata_zones.h>

#include <cstdio>

int main() {
  tally::TzdataZones zones;
  tally::Engine engine(zones);
  tally::Zone* shanghai = zones.Find("Asia/Shanghai");
  if (shanghai == nullptr) return 1;
  const tally::LimitRule rules[] = {
      tally::LimitRule::Calendar(1, tally::CalendarUnit::kDay, *shanghai)};
  const int64_t midnight =
      shanghai->Containing(1'795'230'400'000, tally::CalendarUnit::kDay).end_ms;
  for (const int64_t now : {midnight - 1, midnight}) {
    tally::Limits limits({.engine = engine, .now_ms = now});
    if (!limits.Take("ann", rules).decision.allowed) return 1;
  }
  std::puts("embedded");
}
