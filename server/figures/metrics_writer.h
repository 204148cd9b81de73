// Writes metrics in the two forms that Prometheus reads: OpenMetrics 1.0, and the older text format
// 0.0.4 that its tools check. They differ in the names of counters and at the end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tally::server {

enum class MetricsFormat : uint8_t { kOpenMetrics, kText };

// Returns the format as a value of the Content-Type header.
std::string_view ContentTypeOf(MetricsFormat format);

class MetricsWriter {
 public:
  using Label = std::pair<std::string_view, std::string_view>;  // name, and value of any bytes
  using Labels = std::span<const Label>;

  MetricsWriter(MetricsFormat format, std::string& out) : format_(format), out_(out) {}

  // Each function begins a family, whose samples must follow at once; `name` must stay valid for
  // them. The name of a counter is given without "_total".
  void Counter(std::string_view name, std::string_view help);
  void Gauge(std::string_view name, std::string_view help);
  void Histogram(std::string_view name, std::string_view help);

  void Sample(uint64_t value) { Sample(Labels(), value); }
  void Sample(Labels labels, uint64_t value);
  void Sample(std::initializer_list<Label> labels, uint64_t value) {
    Sample(Labels(labels.begin(), labels.size()), value);
  }
  // Writes a value that is given in microseconds as seconds.
  void Seconds(uint64_t micros) { Seconds({}, micros); }
  void Seconds(std::initializer_list<Label> labels, uint64_t micros);
  // `value` is in [0, 1].
  void Ratio(double value);
  // Writes a histogram of `count` durations: counts[i] of them took less than bounds[i], in
  // microseconds.
  void Durations(std::initializer_list<Label> labels, std::span<const uint64_t> bounds,
                 std::span<const uint64_t> counts, uint64_t count, uint64_t sum_micros);
  // Must be called after the last family.
  void End();

 private:
  void Family(std::string_view name, std::string_view type, std::string_view help);
  // Writes a sample up to its value: the name, a suffix and the labels, with `bound` as the label
  // "le" if it is not empty.
  void Begin(std::string_view suffix, Labels labels, std::string_view bound = {});

  MetricsFormat format_;
  std::string& out_;
  std::string_view name_;
  bool is_counter_ = false;
};

// Returns seconds as text: "0.000250" for 250.
std::string SecondsText(uint64_t micros);

}  // namespace tally::server
