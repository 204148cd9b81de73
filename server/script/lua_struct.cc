// struct: converts numbers and strings to bytes and back, with the format letters of Roberto
// Ierusalimschy's library of that name, because scripts expect them.
#include <absl/strings/ascii.h>

#include <climits>
#include <cstdint>
#include <cstring>

#include "server/script/lua_numbers.h"
#include "server/script/lua_sandbox.h"

namespace tally::server {
namespace {

constexpr int kMaxIntSize = 32;
constexpr int kNativeAlign = 8;

struct Format {
  const char* at;
  bool little = true;
  int align = 1;
};

// Reads the number after a format letter; returns `otherwise` if there is none.
int TakeSize(lua_State* lua, Format& format, int otherwise) {
  if (!absl::ascii_isdigit(static_cast<unsigned char>(*format.at))) return otherwise;
  int size = 0;
  while (absl::ascii_isdigit(static_cast<unsigned char>(*format.at))) {
    if (size > (INT_MAX / 10) || size * 10 > INT_MAX - (*format.at - '0')) {
      return luaL_error(lua, "integral size overflow");
    }
    size = size * 10 + (*format.at++ - '0');
  }
  return size;
}

// The number of bytes that `letter` stands for; 0 for control letters and `s`.
size_t SizeOf(lua_State* lua, char letter, Format& format) {
  switch (letter) {
    case 'B':
    case 'b':
    case 'x':
      return 1;
    case 'H':
    case 'h':
      return sizeof(short);
    case 'L':
    case 'l':
      return sizeof(long);
    case 'T':
      return sizeof(size_t);
    case 'f':
      return sizeof(float);
    case 'd':
      return sizeof(double);
    case 'c':
      return static_cast<size_t>(TakeSize(lua, format, 1));
    case 'I':
    case 'i': {
      const int size = TakeSize(lua, format, sizeof(int));
      if (size > kMaxIntSize) {
        luaL_error(lua, "integral size %d is larger than limit of %d", size, kMaxIntSize);
      }
      return static_cast<size_t>(size);
    }
    default:
      return 0;
  }
}

size_t Padding(size_t total, size_t size, char letter, const Format& format) {
  if (size == 0 || letter == 'c') return 0;
  const size_t align = size > static_cast<size_t>(format.align) ? format.align : size;
  return align > 1 ? (align - (total & (align - 1))) & (align - 1) : 0;
}

// Handles the letters that take no value.
void Control(lua_State* lua, char letter, Format& format) {
  switch (letter) {
    case ' ':
      return;
    case '>':
      format.little = false;
      return;
    case '<':
      format.little = true;
      return;
    case '!': {
      const int align = TakeSize(lua, format, kNativeAlign);
      if (align <= 0 || (align & (align - 1)) != 0)
        luaL_error(lua, "alignment %d is not a power of 2", align);
      format.align = align;
      return;
    }
    default:
      luaL_argerror(lua, 1, lua_pushfstring(lua, "invalid format option '%c'", letter));
  }
}

void PutInteger(luaL_Buffer& out, lua_Number number, size_t size, bool little) {
  const uint64_t value = TruncatedToUint64(number);
  char bytes[kMaxIntSize];
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<char>(i < sizeof(value) ? value >> (8 * i) : 0);
    bytes[little ? i : size - 1 - i] = byte;
  }
  luaL_addlstring(&out, bytes, size);
}

template <typename Float>
void PutFloat(luaL_Buffer& out, Float value, bool little) {
  char bytes[sizeof(Float)];
  std::memcpy(bytes, &value, sizeof(Float));
  for (size_t i = 0; i < sizeof(Float); ++i) {
    luaL_addchar(&out, bytes[little ? i : sizeof(Float) - 1 - i]);
  }
}

// Appends the value of one letter, which is argument `index`. Returns the number of bytes.
size_t Put(lua_State* lua, luaL_Buffer& out, char letter, size_t size, int index,
           const Format& format) {
  switch (letter) {
    case 'f':
      PutFloat(out, static_cast<float>(luaL_checknumber(lua, index)), format.little);
      return size;
    case 'd':
      PutFloat(out, luaL_checknumber(lua, index), format.little);
      return size;
    case 'c':
    case 's': {
      size_t length = 0;
      const char* text = luaL_checklstring(lua, index, &length);
      if (size == 0) size = length;
      luaL_argcheck(lua, length >= size, index + 1, "string too short");  // + 1: as the original
      luaL_addlstring(&out, text, size);
      if (letter == 'c') return size;
      luaL_addchar(&out, '\0');
      return size + 1;
    }
    default:
      PutInteger(out, luaL_checknumber(lua, index), size, format.little);
      return size;
  }
}

bool TakesValue(char letter) { return std::strchr("bBhHlLTiIcsfd", letter) != nullptr; }

int Pack(lua_State* lua) {
  Format format{luaL_checkstring(lua, 1)};
  luaL_Buffer out;
  size_t total = 0;
  int index = 1;
  lua_pushnil(lua);  // separates the arguments from the stack slots of the buffer
  luaL_buffinit(lua, &out);
  while (*format.at != '\0') {
    const char letter = *format.at++;
    const size_t size = SizeOf(lua, letter, format);
    const size_t padding = Padding(total, size, letter, format);
    for (size_t i = 0; i < padding; ++i) luaL_addchar(&out, '\0');
    total += padding;
    if (letter == 'x') {
      luaL_addchar(&out, '\0');
      ++total;
    } else if (TakesValue(letter)) {
      total += Put(lua, out, letter, size, ++index, format);
    } else {
      Control(lua, letter, format);
    }
  }
  luaL_pushresult(&out);
  return 1;
}

lua_Number GetInteger(const char* bytes, size_t size, bool little, bool is_signed) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    const char byte = bytes[little ? size - 1 - i : i];
    value = (value << 8) | static_cast<unsigned char>(byte);
  }
  if (!is_signed || size == 0) return static_cast<lua_Number>(value);
  if (size < sizeof(value)) {
    const uint64_t sign = uint64_t{1} << (8 * size - 1);
    value = (value ^ sign) - sign;
  }
  return static_cast<lua_Number>(static_cast<int64_t>(value));
}

template <typename Float>
Float GetFloat(const char* bytes, bool little) {
  char ordered[sizeof(Float)];
  for (size_t i = 0; i < sizeof(Float); ++i) ordered[i] = bytes[little ? i : sizeof(Float) - 1 - i];
  Float value;
  std::memcpy(&value, ordered, sizeof(Float));
  return value;
}

// Pushes the value of one letter from `bytes`. The data ends at `end`. Returns the number of bytes
// used.
size_t Get(lua_State* lua, char letter, size_t size, const char* bytes, const char* end,
           const Format& format, int first_value) {
  switch (letter) {
    case 'f':
      lua_pushnumber(lua, GetFloat<float>(bytes, format.little));
      return size;
    case 'd':
      lua_pushnumber(lua, GetFloat<double>(bytes, format.little));
      return size;
    case 'c': {
      if (size == 0) {  // the value before is the length
        if (lua_gettop(lua) < first_value || lua_isnumber(lua, -1) == 0) {
          luaL_error(lua, "format 'c0' needs a previous size");
        }
        size = TruncatedToUint64(lua_tonumber(lua, -1));
        lua_pop(lua, 1);
        const bool fits = size <= static_cast<size_t>(end - bytes);
        luaL_argcheck(lua, fits, 2, "data string too short");
      }
      lua_pushlstring(lua, bytes, size);
      return size;
    }
    case 's': {
      const void* zero = std::memchr(bytes, 0, static_cast<size_t>(end - bytes));
      if (zero == nullptr) luaL_error(lua, "unfinished string in data");
      const auto length = static_cast<size_t>(static_cast<const char*>(zero) - bytes);
      lua_pushlstring(lua, bytes, length);
      return length + 1;
    }
    default:
      lua_pushnumber(lua, GetInteger(bytes, size, format.little, letter >= 'a'));
      return size;
  }
}

int UnpackStruct(lua_State* lua) {
  Format format{luaL_checkstring(lua, 1)};
  size_t length = 0;
  const char* data = luaL_checklstring(lua, 2, &length);
  // A negative position becomes a number that is too large, and is refused below.
  const auto begin = static_cast<size_t>(luaL_optinteger(lua, 3, 1));
  luaL_argcheck(lua, begin > 0, 3, "offset must be 1 or greater");
  lua_settop(lua, 2);
  size_t position = begin - 1;
  while (*format.at != '\0') {
    const char letter = *format.at++;
    const size_t size = SizeOf(lua, letter, format);
    position += Padding(position, size, letter, format);
    luaL_argcheck(lua, position <= length && size <= length - position, 2, "data string too short");
    luaL_checkstack(lua, 2, "too many results");
    if (letter == 'x') {
      ++position;
    } else if (TakesValue(letter)) {
      position += Get(lua, letter, size, data + position, data + length, format, 3);
    } else {
      Control(lua, letter, format);
    }
  }
  lua_pushinteger(lua, static_cast<lua_Integer>(position + 1));
  return lua_gettop(lua) - 2;
}

int Size(lua_State* lua) {
  Format format{luaL_checkstring(lua, 1)};
  size_t total = 0;
  while (*format.at != '\0') {
    const char letter = *format.at++;
    const size_t size = SizeOf(lua, letter, format);
    total += Padding(total, size, letter, format);
    if (letter == 's') luaL_argerror(lua, 1, "option 's' has no fixed size");
    if (letter == 'c' && size == 0) luaL_argerror(lua, 1, "option 'c0' has no fixed size");
    if (letter != 'x' && !TakesValue(letter)) Control(lua, letter, format);
    total += size;
  }
  lua_pushinteger(lua, static_cast<lua_Integer>(total));
  return 1;
}

}  // namespace

int OpenStruct(lua_State* lua) {
  lua_newtable(lua);
  lua_pushcfunction(lua, Pack);
  lua_setfield(lua, -2, "pack");
  lua_pushcfunction(lua, UnpackStruct);
  lua_setfield(lua, -2, "unpack");
  lua_pushcfunction(lua, Size);
  lua_setfield(lua, -2, "size");
  return 1;
}

}  // namespace tally::server
