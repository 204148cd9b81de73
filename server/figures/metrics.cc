#include "server/figures/metrics.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"
#include "server/figures/figure_list.h"

namespace tally::server {
namespace {

// The upper bounds of the buckets of all durations, in microseconds.
constexpr std::array<uint64_t, 14> kBounds = {4,   8,    16,   32,     64,     128,     256,
                                              512, 1024, 4096, 16'384, 65'536, 262'144, 1'048'576};

std::string SecondsText(uint64_t micros) {
  return absl::StrFormat("%d.%06d", micros / 1'000'000, micros % 1'000'000);
}

// Printable writes a quote as "\x22". Its backslashes are doubled, because the format requires it.
void AppendLabelValue(std::string& out, std::string_view value) {
  for (const char c : Printable(value, "\"")) {
    if (c == '\\') out += '\\';
    out += c;
  }
}

// Collects the samples of each family: those of one may be reported in different places.
class MetricSamples : public FigureSink {
 public:
  MetricSamples() { std::transform(kBounds.begin(), kBounds.end(), bounds_.begin(), SecondsText); }
  std::string Text(MetricsFormat format) const;

 private:
  void Put(std::string_view row, const FigureValue& value, const ShownAs& also) override;
  void PutDurations(const Durations& durations, const ShownAs& also);
  // Appends a sample; `bound` is the value of the label "le", if it is not empty.
  void Sample(const ShownAs& also, std::string_view value, std::string_view suffix = {},
              std::string_view bound = {});

  std::array<std::string, kBounds.size()> bounds_;  // as texts
  std::array<std::string, std::size(kMetricFamilies)> samples_;
};

void MetricSamples::Sample(const ShownAs& also, std::string_view value, std::string_view suffix,
                           std::string_view bound) {
  const MetricFamily& family = kMetricFamilies[also.metric.index()];
  std::string& out = samples_[also.metric.index()];
  StrAppend(out, "tallyd_", family.name, family.type == "counter" ? "_total" : suffix);
  char before = '{';
  for (size_t i = 0; i < family.labels.size() && !family.labels[i].empty(); ++i) {
    StrAppend(out, before, family.labels[i], "=\"");
    AppendLabelValue(out, also.labels[i]);
    out += '"';
    before = ',';
  }
  if (!bound.empty()) {
    StrAppend(out, before, "le=\"", bound, '"');
    before = ',';
  }
  StrAppend(out, before == ',' ? "} " : " ", value, '\n');
}

void MetricSamples::PutDurations(const Durations& durations, const ShownAs& also) {
  std::array<uint64_t, kBounds.size()> counts{};
  durations.histogram->CountsBelow(kBounds, counts);
  for (size_t i = 0; i < kBounds.size(); ++i) {
    Sample(also, StrCat(counts[i]), "_bucket", bounds_[i]);
  }
  const std::string count = StrCat(durations.histogram->count());
  Sample(also, count, "_bucket", "+Inf");
  Sample(also, SecondsText(durations.sum_us), "_sum");
  Sample(also, count, "_count");
}

void MetricSamples::Put(std::string_view, const FigureValue& value, const ShownAs& also) {
  if (also.metric.index() == MetricName::kNone) return;
  const auto counted = [](int64_t number) {
    return static_cast<uint64_t>(std::max<int64_t>(number, 0));
  };
  if (const auto* number = std::get_if<int64_t>(&value)) {
    Sample(also, StrCat(counted(*number)));
  } else if (const auto* micros = std::get_if<Micros>(&value)) {
    Sample(also, SecondsText(counted(micros->count)));
  } else if (const auto* ratio = std::get_if<double>(&value)) {
    Sample(also, absl::StrFormat("%.4f", *ratio));
  } else if (const auto* durations = std::get_if<Durations>(&value)) {
    PutDurations(*durations, also);
  }
}

std::string MetricSamples::Text(MetricsFormat format) const {
  std::string text;
  const bool is_open = format == MetricsFormat::kOpenMetrics;
  for (size_t i = 0; i < samples_.size(); ++i) {
    const auto& [name, type, help, labels] = kMetricFamilies[i];
    const std::string_view suffix = type == "counter" && !is_open ? "_total" : "";
    StrAppend(text, "# HELP tallyd_", name, suffix, ' ', help, '\n');
    StrAppend(text, "# TYPE tallyd_", name, suffix, ' ', type, '\n', samples_[i]);
  }
  if (is_open) text += "# EOF\n";
  return text;
}

}  // namespace

std::string_view ContentTypeOf(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string RenderMetrics(const Services& server, MetricsFormat format) {
  MetricSamples samples;
  for (const FigureSection& section : FigureSections()) section.report(server, samples);
  return samples.Text(format);
}

}  // namespace tally::server
