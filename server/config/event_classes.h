// The classes of keyspace notifications, and their letters in `notify-keyspace-events`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally::server {

// Bits of a set of classes.
enum EventClass : uint32_t {
  kEventKeyspace = 1 << 0,  // K: publish on __keyspace@<db>__:<key>
  kEventKeyevent = 1 << 1,  // E: publish on __keyevent@<db>__:<event>
  kEventGeneric = 1 << 2,   // g
  kEventString = 1 << 3,    // $
  kEventList = 1 << 4,      // l
  kEventSet = 1 << 5,       // s
  kEventHash = 1 << 6,      // h
  kEventZset = 1 << 7,      // z
  kEventExpired = 1 << 8,   // x
  kEventEvicted = 1 << 9,   // e
  kEventStream = 1 << 10,   // t
  kEventKeyMiss = 1 << 11,  // m, not part of A
  kEventModule = 1 << 12,   // d
  kEventNew = 1 << 13,      // n, not part of A
};

// A: every class but K, E, m and n.
inline constexpr uint32_t kEventAll = kEventGeneric | kEventString | kEventList | kEventSet |
                                      kEventHash | kEventZset | kEventExpired | kEventEvicted |
                                      kEventStream | kEventModule;

// Nothing if a letter is unknown.
std::optional<uint32_t> ParseEventClasses(std::string_view letters);

// In the order in which Redis writes them.
std::string FormatEventClasses(uint32_t classes);

}  // namespace tally::server
