// What the server measures is reported once, by the part that knows it, to a sink. INFO, /metrics
// and the page's events are such sinks: each prints the figures that have a name there.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "server/figures/metric_families.h"
#include "server/state/stats.h"

namespace tally::server {

// A duration. INFO and the page show microseconds; metrics are in seconds.
struct Micros {
  int64_t count = 0;
};

// Durations by their lengths, and their sum. Only metrics show them.
struct Durations {
  const DurationHistogram* histogram;
  uint64_t sum_us;
};

using FigureValue = std::variant<int64_t, double, std::string_view, Micros, Durations>;

// Where a figure is shown besides its row of INFO.
struct ShownAs {
  MetricName metric = {};                       // a family of /metrics
  std::array<std::string_view, 2> labels = {};  // the values of the family's labels
  std::string_view json = {};  // a member of an event; "turns.longest_us" is one in "turns"
};

class FigureSink {
 public:
  // `row` is the name in INFO; empty if INFO does not show the figure.
  template <typename Value>
  void Add(std::string_view row, const Value& value, const ShownAs& also = {}) {
    if constexpr (std::integral<Value>) {
      Put(row, static_cast<int64_t>(value), also);
    } else {
      Put(row, value, also);
    }
  }
  // Adds the bytes, and a second row "row_human" for people.
  void AddBytes(std::string_view row, size_t bytes, const ShownAs& also = {});
  // Each adds part / whole with two decimals, as a ratio or in percent; 0 if `whole` is 0.
  void AddRatio(std::string_view row, double part, double whole);
  void AddPercent(std::string_view row, double part, double whole);

  // Whether rows of INFO are shown. What takes long and is only there may be left out otherwise.
  virtual bool shows_rows() const { return false; }

 protected:
  ~FigureSink() = default;

 private:
  virtual void Put(std::string_view row, const FigureValue& value, const ShownAs& also) = 0;
};

// Returns bytes for people: "1.50K", "12B".
std::string HumanBytes(size_t bytes);

}  // namespace tally::server
