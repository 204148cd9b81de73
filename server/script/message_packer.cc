#include "server/script/message_packer.h"

#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tally::server {
namespace {

constexpr int kMaxNesting = 16;  // deeper values are packed as nil
constexpr char kStackError[] = "in function mp_encode_lua_type";

// Growing bytes in a userdata at a fixed place on the stack, so that the collector frees them after
// an error.
struct Output {
  lua_State* lua;
  int slot;
  char* bytes;
  size_t size;
  size_t capacity;

  void Append(const void* from, size_t count) {
    if (count > capacity - size) Grow(count);
    std::memcpy(bytes + size, from, count);
    size += count;
  }

  void Grow(size_t count) {
    const size_t grown = 2 * (capacity + count);
    auto* to = static_cast<char*>(lua_newuserdata(lua, grown));
    std::memcpy(to, bytes, size);
    lua_replace(lua, slot);
    bytes = to;
    capacity = grown;
  }

  void Byte(unsigned value) {
    const auto byte = static_cast<unsigned char>(value);
    Append(&byte, 1);
  }

  // Appends `type` and then the low `count` bytes of the value, the highest byte first.
  void Tagged(unsigned type, uint64_t value, size_t count) {
    unsigned char text[9];
    text[0] = static_cast<unsigned char>(type);
    for (size_t i = 0; i < count; ++i) {
      text[1 + i] = static_cast<unsigned char>(value >> (8 * (count - 1 - i)));
    }
    Append(text, count + 1);
  }
};

void PackInteger(Output& out, int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  if (value >= 0) {
    if (bits <= 127) return out.Byte(static_cast<unsigned>(bits));
    if (bits <= UINT8_MAX) return out.Tagged(0xcc, bits, 1);
    if (bits <= UINT16_MAX) return out.Tagged(0xcd, bits, 2);
    if (bits <= UINT32_MAX) return out.Tagged(0xce, bits, 4);
    return out.Tagged(0xcf, bits, 8);
  }
  if (value >= -32) return out.Byte(static_cast<unsigned>(bits & 0xff));
  if (value >= INT8_MIN) return out.Tagged(0xd0, bits, 1);
  if (value >= INT16_MIN) return out.Tagged(0xd1, bits, 2);
  if (value >= INT32_MIN) return out.Tagged(0xd2, bits, 4);
  return out.Tagged(0xd3, bits, 8);
}

void PackNumber(Output& out, lua_Number value) {
  constexpr lua_Number kEnd = 9223372036854775808.0;
  if (value >= -kEnd && value < kEnd && std::trunc(value) == value) {
    return PackInteger(out, static_cast<int64_t>(value));
  }
  const auto narrow = static_cast<float>(value);
  if (static_cast<lua_Number>(narrow) == value) {
    return out.Tagged(0xca, std::bit_cast<uint32_t>(narrow), 4);
  }
  out.Tagged(0xcb, std::bit_cast<uint64_t>(value), 8);
}

void PackString(Output& out, int index) {
  size_t size = 0;
  const char* text = lua_tolstring(out.lua, index, &size);
  if (size < 32) {
    out.Byte(0xa0 | static_cast<unsigned>(size));
  } else if (size <= UINT8_MAX) {
    out.Tagged(0xd9, size, 1);
  } else if (size <= UINT16_MAX) {
    out.Tagged(0xda, size, 2);
  } else {
    out.Tagged(0xdb, size, 4);
  }
  out.Append(text, size);
}

void PackHeader(Output& out, size_t size, unsigned small, unsigned medium) {
  if (size <= 15) return out.Byte(small | static_cast<unsigned>(size));
  if (size <= UINT16_MAX) return out.Tagged(medium, size, 2);
  out.Tagged(medium + 1, size, 4);
}

// Whether the keys of the table at the top are exactly 1 to n. Sets `pairs` to the number of pairs.
bool IsArray(lua_State* lua, size_t& pairs) {
  pairs = 0;
  lua_Number highest = 0;
  bool is_array = true;
  lua_pushnil(lua);
  while (lua_next(lua, -2) != 0) {
    lua_pop(lua, 1);
    ++pairs;
    if (lua_type(lua, -1) != LUA_TNUMBER) {
      is_array = false;
      continue;
    }
    const lua_Number key = lua_tonumber(lua, -1);
    is_array &= key > 0 && std::trunc(key) == key;
    highest = std::fmax(highest, key);
  }
  return is_array && highest == static_cast<lua_Number>(pairs);
}

void PackTop(Output& out, int nesting);

void PackTable(Output& out, int nesting) {
  lua_State* lua = out.lua;
  size_t pairs = 0;
  if (IsArray(lua, pairs)) {
    PackHeader(out, pairs, 0x90, 0xdc);
    for (size_t i = 1; i <= pairs; ++i) {
      lua_rawgeti(lua, -1, static_cast<int>(i));
      PackTop(out, nesting + 1);
    }
    return;
  }
  PackHeader(out, pairs, 0x80, 0xde);
  lua_pushnil(lua);
  while (lua_next(lua, -2) != 0) {
    lua_pushvalue(lua, -2);
    PackTop(out, nesting + 1);
    PackTop(out, nesting + 1);
  }
}

// Packs the value at the top of the stack, and pops it.
void PackTop(Output& out, int nesting) {
  lua_State* lua = out.lua;
  luaL_checkstack(lua, 6, kStackError);
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
      PackString(out, -1);
      break;
    case LUA_TBOOLEAN:
      out.Byte(lua_toboolean(lua, -1) != 0 ? 0xc3 : 0xc2);
      break;
    case LUA_TNUMBER:
      PackNumber(out, lua_tonumber(lua, -1));
      break;
    case LUA_TTABLE:
      nesting == kMaxNesting ? out.Byte(0xc0) : PackTable(out, nesting);
      break;
    default:
      out.Byte(0xc0);
  }
  lua_pop(lua, 1);
}

}  // namespace

int PackMessage(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count == 0) return luaL_argerror(lua, 0, "MessagePack pack needs input.");
  if (lua_checkstack(lua, count) == 0) {
    return luaL_argerror(lua, 0, "Too many arguments for MessagePack pack.");
  }
  luaL_checkstack(lua, 2, kStackError);
  constexpr size_t kFirst = 64;
  auto* bytes = static_cast<char*>(lua_newuserdata(lua, kFirst));
  Output out{lua, count + 1, bytes, 0, kFirst};
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(lua, i);
    PackTop(out, 0);
  }
  lua_pushlstring(lua, out.bytes, out.size);
  return 1;
}

}  // namespace tally::server
