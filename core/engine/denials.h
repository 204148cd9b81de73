// Who was denied most in the last minute, five minutes and hour, and by which policy or rule.
//
// A denial must cost little beside the decision. So those of ten seconds are counted in a sketch
// that costs next to nothing, and go into the windows together, when the ten seconds are over or
// somebody asks.
#pragma once

#include <absl/functional/function_ref.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sketch/misra_gries.h"
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

  // Each step of each window holds this many names. All together take less than 1.9 MB, from the
  // first denial on.
  static constexpr size_t kNames = 540;

  // `seed` keys the hashes of names.
  explicit Denials(uint64_t seed);

  // `now` in unix ms.
  void Add(std::string_view key, const Cause& cause, int64_t now);
  // As WindowTop.
  std::vector<TopItem> Top(Window window, int64_t now);
  uint64_t bound(Window window, int64_t now);
  size_t MemoryBytes() const;

 private:
  static constexpr size_t kSets = 128;
  static constexpr size_t kLabels = 64;
  static constexpr int64_t kStepMs = 10'000;  // the steps of every window are multiples of it

  struct Label {
    std::optional<uint64_t> cause;
    ShortText<40> text;
  };

  const ShortText<40>& LabelOf(uint64_t id, const Cause& cause);
  // Puts what is recent into the windows.
  void Flush(int64_t now);

  uint64_t seed_;
  std::array<WindowTop, kWindows> windows_;
  int64_t recent_step_ = 0;  // since 1970, of kStepMs
  MisraGries recent_{kSets};
  std::array<Label, kLabels> labels_{};  // of causes that denied lately, by their hashes
};

}  // namespace tally
