// How tallyd's own types look in an RDB: as tally.so writes them (server/module/value_codec.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/type.h"

namespace tally::rdb {

inline constexpr uint64_t kNativeVersion = 1;

// The first byte of a run of a heap value. That of a packed value is less: it is its length.
enum NativePart : uint8_t { kNativeRun = 0xfe, kNativeLastRun = 0xff };

// The names have nine characters, because those of a module's types must. They are in files: never
// change them. Policies are saved beside the keys, with the type of limits.
inline constexpr struct {
  Type type;
  const char* name;
} kNativeTypes[] = {{Type::kHits, "tallyhits"},
                    {Type::kLimit, "tallylimt"},
                    {Type::kActive, "tallyactv"},
                    {Type::kQuota, "tallyquot"}};

// Null for a type that Redis has too.
constexpr const char* NativeName(Type type) {
  for (const auto& native : kNativeTypes) {
    if (native.type == type) return native.name;
  }
  return nullptr;
}

constexpr std::optional<Type> NativeType(std::string_view name) {
  for (const auto& native : kNativeTypes) {
    if (native.name == name) return native.type;
  }
  return std::nullopt;
}

}  // namespace tally::rdb
