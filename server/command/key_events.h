// What commands report about keys, for WATCH and for keyspace notifications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tally::server {

// The classes of events, as bits of a set. The letters are those of notify-keyspace-events.
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

// Each function is about a key of the database with the index `database`.
class KeyEvents {
 public:
  // The key's value or deadline has changed.
  virtual void Changed(uint32_t event_class, std::string_view event, size_t database,
                       std::string_view key) = 0;
  // The key's value has changed, but there is no event for it: only watchers are told.
  virtual void Touched(size_t database, std::string_view key) = 0;
  // Something happened to the key that does not count as a change: a miss, a new key, or the "del"
  // of a container that a reported change has emptied.
  virtual void Notify(uint32_t event_class, std::string_view event, size_t database,
                      std::string_view key) = 0;

 protected:
  ~KeyEvents() = default;
};

}  // namespace tally::server
