// Floating-point numbers as text, digit for digit as Redis writes and reads them. Nothing here
// depends on a locale other than "C" being set.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tally {

// Room for any double: sign, 17 digits, point, "e-308".
inline constexpr size_t kMaxDoubleBytes = 32;

// Writes a score as printf's "%.17g" does, with "inf" and "-inf"; returns the number of bytes.
// Whole numbers below 1e17 come out as integers, -0 as "-0". `to` has kMaxDoubleBytes.
size_t FormatDouble(double value, char* to);
void AppendDouble(std::string& out, double value);

// As INCRBYFLOAT stores a sum: "%.17Lf" without trailing zeros, never "-0", never an exponent; up
// to about 5,000 bytes.
void AppendHumanLongDouble(std::string& out, long double value);

// The whole text as a number, as Redis takes a score: decimal or hexadecimal (0x1p-3) with an
// optional sign, or inf/infinity in any case. Empty for NaN, empty text, blanks, trailing bytes,
// and what overflows or underflows to zero.
std::optional<double> ParseDouble(std::string_view text);

// As ParseDouble, in long double's range, as Redis takes the argument of INCRBYFLOAT; text of 5 KiB
// or more is refused.
std::optional<long double> ParseLongDouble(std::string_view text);

}  // namespace tally
