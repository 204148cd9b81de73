// Floating-point numbers as text, digit for digit as Redis writes and reads them. The process must
// keep the locale "C", on which strtod and printf depend.
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

// Appends the text that INCRBYFLOAT stores: "%.17Lf" without trailing zeros, never "-0", never an
// exponent, up to about 5,000 bytes; "inf" or "-inf" for an infinity.
void AppendHumanLongDouble(std::string& out, long double value);

// Reads the whole text as Redis reads a score: decimal or hexadecimal (0x1p-3) with an optional
// sign, or inf/infinity in any case. Returns nullopt for NaN, empty text, leading blanks, trailing
// bytes, and numbers that overflow or underflow to zero.
std::optional<double> ParseDouble(std::string_view text);

// Reads the argument of INCRBYFLOAT: as ParseDouble, but in the range of long double. Refuses text
// of 5 KiB or more.
std::optional<long double> ParseLongDouble(std::string_view text);

}  // namespace tally
