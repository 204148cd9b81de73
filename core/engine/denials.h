// Who was denied most in the last minute, five minutes and hour, in which database, and by which
// policy or rule.
//
// Counting a denial must cost little compared with the decision. So denials are first counted in a
// cheap sketch, for ten seconds. They go into the windows together: at the first denial after the
// ten seconds, or when somebody asks.
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
  // Whether a label is the text of a rule or the name of a policy; with kShadow the rule, in
  // SHADOW, would have denied.
  enum Kind : uint8_t { kRule = 0, kPolicy = 1, kShadow = 2 };

  // What has denied. Causes with the same `id` and kind have the same label. `label` is called only
  // when its text is needed.
  struct Cause {
    uint8_t kind = kRule;
    uint64_t id = 0;
    absl::FunctionRef<std::string()> label;
    // Which rule, from 1: of the policy's, or of those that the call gave the key. 0 if the cause
    // is no rule of LIMIT.
    size_t place = 0;
  };
  // A key is another one in each database.
  struct Key {
    std::string_view name;
    size_t database = 0;
  };

  // Each step of each window holds this many names. All steps together take less than 1.9 MB; the
  // memory is allocated from the first denial on.
  static constexpr size_t kNames = 540;

  // `seed` keys the hashes of names.
  explicit Denials(uint64_t seed);

  // Counts one denial of the key. `now_ms` is in unix ms here and below. The database and the place
  // are kept up to 65,535.
  void Add(const Key& key, const Cause& cause, int64_t now_ms);
  // See WindowTop.
  std::vector<TopItem> Top(Window window, int64_t now_ms);
  uint64_t bound(Window window, int64_t now_ms);
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
  // Moves the denials of the sketch into the windows.
  void Flush(int64_t now_ms);

  uint64_t seed_;
  std::array<WindowTop, kWindows> windows_;
  int64_t recent_step_ = 0;  // the step of `recent_`, in steps of kStepMs since 1970
  MisraGries recent_{kSets};
  std::array<Label, kLabels> labels_{};  // a cache of recent labels, by the id of the cause
};

}  // namespace tally
