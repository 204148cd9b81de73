#include "server/script/lua_numbers.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/bytes/number.h"
#include "server/script/lua_stack.h"

namespace tally::server {
namespace {

// The number of digits that Lua shows of a number: printf's "%.14g".
constexpr int kDigits = 14;
// Whole numbers below this are written without an exponent.
constexpr lua_Number kExponentFrom = 1e14;
constexpr lua_Number kInt64End = 9223372036854775808.0;
// Enough for a sign, digits, a point and "e-308", and more than WriteInt64 needs.
constexpr size_t kMaxNumberBytes = 32;

size_t WriteNumber(lua_Number value, char* to) {
  const bool is_whole = std::abs(value) < kExponentFrom && value == std::trunc(value) &&
                        (value != 0 || !std::signbit(value));
  const char* const end =
      is_whole
          ? WriteInt64(to, static_cast<int64_t>(value))
          : std::to_chars(to, to + kMaxNumberBytes, value, std::chars_format::general, kDigits).ptr;
  return static_cast<size_t>(end - to);
}

// Returns the number if all of the text is a decimal number in range. Other texts that strtod takes
// (blanks, a plus sign, hexadecimal, "inf") are left to Lua's own function.
std::optional<lua_Number> ParseDecimal(std::string_view text) {
  const size_t first = text.starts_with('-') ? 1 : 0;
  if (first == text.size() || text[first] < '0' || text[first] > '9') return std::nullopt;
  lua_Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

int64_t TruncatedToInt64(lua_Number value) {
  return value >= -kInt64End && value < kInt64End ? static_cast<int64_t>(value) : INT64_MIN;
}

uint64_t TruncatedToUint64(lua_Number value) {
  constexpr uint64_t kHighBit = uint64_t{1} << 63;
  // x86-64 has no such instruction: compilers build it from the signed conversion.
  return value >= kInt64End ? static_cast<uint64_t>(TruncatedToInt64(value - kInt64End)) ^ kHighBit
                            : static_cast<uint64_t>(TruncatedToInt64(value));
}

int GuardToString(lua_State* lua) {
  if (lua_type(lua, 1) != LUA_TNUMBER) return CallGuarded(lua);
  char digits[kMaxNumberBytes];
  lua_pushlstring(lua, digits, WriteNumber(lua_tonumber(lua, 1), digits));
  return 1;
}

int GuardToNumber(lua_State* lua) {
  if (lua_type(lua, 1) != LUA_TSTRING || !lua_isnoneornil(lua, 2)) return CallGuarded(lua);
  size_t size = 0;
  const char* text = lua_tolstring(lua, 1, &size);
  const std::optional<lua_Number> value = ParseDecimal({text, size});
  if (!value) return CallGuarded(lua);
  lua_pushnumber(lua, *value);
  return 1;
}

}  // namespace tally::server
