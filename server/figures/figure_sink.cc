#include "server/figures/figure_sink.h"

#include <absl/strings/str_format.h>

#include "core/bytes/str_cat.h"

namespace tally::server {

std::string HumanBytes(size_t bytes) {
  constexpr std::string_view kUnits = "KMGTP";
  if (bytes < 1024) return StrCat(bytes, 'B');
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.2f%c", value, kUnits[unit]);
}

void FigureSink::AddBytes(std::string_view row, size_t bytes, const ShownAs& also) {
  Add(row, bytes, also);
  if (shows_rows()) Add(StrCat(row, "_human"), HumanBytes(bytes));
}

void FigureSink::AddRatio(std::string_view row, double part, double whole) {
  Add(row, whole == 0 ? 0.0 : part / whole);
}

void FigureSink::AddPercent(std::string_view row, double part, double whole) {
  Add(row, absl::StrFormat("%.2f%%", whole == 0 ? 0 : 100 * part / whole));
}

}  // namespace tally::server
