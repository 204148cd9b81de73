// The types that a key can hold.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

// The numbers are in snapshot files: never renumber.
enum class Type : uint8_t {
  kString = 0,
  kList = 1,
  kHash = 2,
  kSet = 3,
  kZSet = 4,
  kHits = 5,
  kLimit = 6,
  kActive = 7,
  kQuota = 8,
};
inline constexpr int kTypeCount = 9;

// The name that the commands TYPE and SCAN … TYPE use.
constexpr std::string_view TypeName(Type type) {
  constexpr std::string_view kNames[kTypeCount] = {"string", "list",  "hash",   "set",  "zset",
                                                   "hits",   "limit", "active", "quota"};
  return kNames[static_cast<int>(type)];
}

}  // namespace tally
