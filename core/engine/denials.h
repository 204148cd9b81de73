// Who was denied most in the last minute, five minutes and hour, and by which policy or rule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/sketch/window_top.h"

namespace tally {

class Denials {
 public:
  enum class Window : uint8_t { kMinute, kFiveMinutes, kHour };
  static constexpr size_t kWindows = 3;
  // The kinds of names: `label` is a policy's name, or a rule.
  enum Kind : uint8_t { kRule, kPolicy };

  // Each step of each window holds this many names, and its error is at most the denials in it by
  // this number. All windows together take less than 1.8 MiB, from the first denial on.
  static constexpr size_t kNames = 600;

  // `seed` keys the hashes of names.
  explicit Denials(uint64_t seed);

  // `now` in unix ms.
  void Add(std::string_view key, std::string_view label, Kind kind, int64_t now);
  // As WindowTop.
  std::vector<TopItem> Top(Window window, int64_t now) const;
  uint64_t bound(Window window, int64_t now) const;
  void Clear();
  size_t MemoryBytes() const;

 private:
  uint64_t seed_;
  std::array<WindowTop, kWindows> windows_;
};

}  // namespace tally
