#include "core/bytes/double_format.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace tally {
namespace {

// %.17g writes whole numbers below this without an exponent.
constexpr double kExponentFrom = 1e17;

// Redis's MAX_LONG_DOUBLE_CHARS: the largest long double has 4,933 digits before the point.
constexpr size_t kMaxLongDoubleBytes = 5 * 1024;

// Calls strtod or strtold for all of `text`. They skip leading blanks and stop at a NUL, so texts
// with these are refused here.
template <typename Float>
std::optional<Float> ParseWhole(std::string_view text, Float (*convert)(const char*, char**)) {
  if (text.empty() || absl::ascii_isspace(text.front())) return std::nullopt;
  const std::string terminated(text);
  char* end = nullptr;
  errno = 0;
  const Float value = convert(terminated.c_str(), &end);
  if (end != terminated.c_str() + terminated.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

}  // namespace

size_t FormatDouble(double value, char* to) {
  char* const last = to + kMaxDoubleBytes;
  const char* end;
  if (std::abs(value) < kExponentFrom && value == std::trunc(value) &&
      (value != 0 || !std::signbit(value))) {
    end = std::to_chars(to, last, static_cast<int64_t>(value)).ptr;
  } else {
    end = std::to_chars(to, last, value, std::chars_format::general, 17).ptr;
  }
  return static_cast<size_t>(end - to);
}

void AppendDouble(std::string& out, double value) {
  char digits[kMaxDoubleBytes];
  out.append(digits, FormatDouble(value, digits));
}

void AppendHumanLongDouble(std::string& out, long double value) {
  if (std::isinf(value)) {
    out.append(value > 0 ? "inf" : "-inf");
    return;
  }
  char text[kMaxLongDoubleBytes];
  const int written = std::snprintf(text, sizeof(text), "%.17Lf", value);
  std::string_view digits(text, static_cast<size_t>(std::max(written, 0)));
  digits = digits.substr(0, digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.remove_suffix(1);
  out.append(digits == "-0" ? "0" : digits);
}

std::optional<double> ParseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // strtod reads what from_chars does not read (a plus sign, hexadecimal) or treats differently
  // (the ends of the range, NaN).
  if (error == std::errc() && end == text.data() + text.size() && std::isnormal(value)) {
    return value;
  }
  return ParseWhole<double>(text, std::strtod);
}

std::optional<long double> ParseLongDouble(std::string_view text) {
  if (text.size() >= kMaxLongDoubleBytes) return std::nullopt;
  return ParseWhole<long double>(text, std::strtold);
}

}  // namespace tally
