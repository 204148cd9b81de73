#include "server/figures/metrics_writer.h"

#include <absl/strings/str_format.h>

#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

void AppendSeconds(std::string& out, uint64_t micros) {
  char digits[] = "000000";
  uint64_t rest = micros % 1'000'000;
  for (int i = 5; i >= 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  StrAppend(out, micros / 1'000'000, '.', std::string_view(digits, 6));
}

// Printable writes a quote as "\x22". Its backslashes are doubled, because the format requires it.
void AppendLabelValue(std::string& out, std::string_view value) {
  for (const char c : Printable(value, "\"")) {
    if (c == '\\') out += '\\';
    out += c;
  }
}

}  // namespace

std::string_view ContentTypeOf(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

void MetricsWriter::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  is_counter_ = type == "counter";
  const std::string_view suffix = is_counter_ && format_ == MetricsFormat::kText ? "_total" : "";
  StrAppend(out_, "# HELP ", name, suffix, ' ', help, '\n');
  StrAppend(out_, "# TYPE ", name, suffix, ' ', type, '\n');
}

void MetricsWriter::Counter(std::string_view name, std::string_view help) {
  Family(name, "counter", help);
}
void MetricsWriter::Gauge(std::string_view name, std::string_view help) {
  Family(name, "gauge", help);
}
void MetricsWriter::Histogram(std::string_view name, std::string_view help) {
  Family(name, "histogram", help);
}

void MetricsWriter::Begin(std::string_view suffix, Labels labels, std::string_view bound) {
  StrAppend(out_, name_, suffix);
  char before = '{';
  for (const auto& [name, value] : labels) {
    StrAppend(out_, before, name, "=\"");
    AppendLabelValue(out_, value);
    out_ += '"';
    before = ',';
  }
  if (!bound.empty()) {
    StrAppend(out_, before, "le=\"", bound, '"');
    before = ',';
  }
  if (before == ',') out_ += '}';
  out_ += ' ';
}

void MetricsWriter::Sample(Labels labels, uint64_t value) {
  Begin(is_counter_ ? "_total" : "", labels);
  StrAppend(out_, value, '\n');
}

void MetricsWriter::Seconds(std::initializer_list<Label> labels, uint64_t micros) {
  Begin(is_counter_ ? "_total" : "", Labels(labels.begin(), labels.size()));
  AppendSeconds(out_, micros);
  out_ += '\n';
}

void MetricsWriter::Ratio(double value) {
  Begin("", {});
  absl::StrAppendFormat(&out_, "%.4f\n", value);
}

void MetricsWriter::Durations(std::initializer_list<Label> labels, std::span<const uint64_t> bounds,
                              std::span<const uint64_t> counts, uint64_t count,
                              uint64_t sum_micros) {
  const Labels all(labels.begin(), labels.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    Begin("_bucket", all, SecondsText(bounds[i]));
    StrAppend(out_, counts[i], '\n');
  }
  Begin("_bucket", all, "+Inf");
  StrAppend(out_, count, '\n');
  Begin("_sum", all);
  AppendSeconds(out_, sum_micros);
  out_ += '\n';
  Begin("_count", all);
  StrAppend(out_, count, '\n');
}

void MetricsWriter::End() {
  if (format_ == MetricsFormat::kOpenMetrics) out_ += "# EOF\n";
}

std::string SecondsText(uint64_t micros) {
  std::string text;
  AppendSeconds(text, micros);
  return text;
}

}  // namespace tally::server
