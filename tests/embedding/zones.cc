// A program that embeds tally::core and takes its time zones from the system.
#include <cstdio>

#include "core/engine/limits.h"
#include "core/tzdata/tzdata_zones.h"

int main() {
  tally::TzdataZones zones;
  tally::Engine engine(1, 42, zones);
  tally::Zone* shanghai = zones.Find("Asia/Shanghai");
  if (shanghai == nullptr) return 1;
  const tally::LimitRule rules[] = {
      tally::LimitRule::Calendar(1, tally::CalendarUnit::kDay, *shanghai)};
  const tally::KeyRules keys[] = {{"ann", rules}};
  const int64_t midnight =
      shanghai->Containing(1'795'230'400'000, tally::CalendarUnit::kDay).end_ms;
  for (const int64_t now : {midnight - 1, midnight}) {
    const tally::LimitRequest request{.keys = keys, .time = tally::EventInstants::Now(now)};
    if (!tally::Limits({engine, 0, now}).Take(request).decision.allowed) return 1;
  }
  std::puts("embedded");
}
