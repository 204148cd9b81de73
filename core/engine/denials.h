// Who was denied most in the last minute, five minutes and hour, and by which policy or rule.
//
// Denials of one key come one after the other, so they are counted in a small table first, and go
// into the windows together: when another name needs the place, in the next ten seconds, or when
// somebody asks.
#pragma once

#include <absl/functional/function_ref.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
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

  // What has denied: the same for the same `id` and kind. The label is made when it is needed.
  struct Cause {
    Kind kind = kRule;
    uint64_t id = 0;
    absl::FunctionRef<std::string()> label;
  };

  // Each step of each window holds this many names, and its error is at most the denials in it by
  // this number. All together take less than 1.9 MB, from the first denial on.
  static constexpr size_t kNames = 600;

  // `seed` keys the hashes of names.
  explicit Denials(uint64_t seed);

  // `now` in unix ms.
  void Add(std::string_view key, const Cause& cause, int64_t now);
  // As WindowTop.
  std::vector<TopItem> Top(Window window, int64_t now);
  uint64_t bound(Window window, int64_t now);
  size_t MemoryBytes() const;

 private:
  static constexpr size_t kPending = 256;
  static constexpr int64_t kStepMs = 10'000;  // the steps of every window are multiples of it

  // Puts it into the windows, and leaves its place free.
  void Flush(TopItem& pending, int64_t now);
  void FlushAll(int64_t now);

  uint64_t seed_;
  std::array<WindowTop, kWindows> windows_;
  // By their hashes, each with what one step of kStepMs has had of it; a count of 0 is a free
  // place. Empty before the first denial.
  std::vector<TopItem> pending_;
};

}  // namespace tally
