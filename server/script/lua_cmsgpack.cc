// cmsgpack: converts Lua values to MessagePack and back. It chooses the encodings as Salvatore
// Sanfilippo's library of that name, version 0.4, does, because scripts expect them.
#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "server/script/lua_sandbox.h"

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

int Pack(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count == 0) return luaL_argerror(lua, 0, "MessagePack pack needs input.");
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

class Input {
 public:
  Input(lua_State* lua, std::string_view rest) : lua_(lua), rest_(rest) {}

  size_t left() const { return rest_.size(); }

  // Pushes the next value.
  void PushValue() {
    luaL_checkstack(lua_, 4, "too many nested values");
    const auto type = static_cast<unsigned>(Number(1));
    if (type <= 0x7f) return lua_pushinteger(lua_, type);
    if (type <= 0x8f) return PushMap(type & 0x0f);
    if (type <= 0x9f) return PushArray(type & 0x0f);
    if (type <= 0xbf) return PushString(type & 0x1f);
    if (type >= 0xe0) return lua_pushinteger(lua_, static_cast<int8_t>(type));
    PushTagged(type);
  }

 private:
  void PushTagged(unsigned type) {
    switch (type) {
      case 0xc0:
        return lua_pushnil(lua_);
      case 0xc2:
      case 0xc3:
        return lua_pushboolean(lua_, type == 0xc3);
      case 0xca:
        return lua_pushnumber(lua_, std::bit_cast<float>(static_cast<uint32_t>(Number(4))));
      case 0xcb:
        return lua_pushnumber(lua_, std::bit_cast<double>(Number(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return lua_pushnumber(lua_, static_cast<lua_Number>(Number(size_t{1} << (type - 0xcc))));
      case 0xd0:
        return lua_pushinteger(lua_, static_cast<int8_t>(Number(1)));
      case 0xd1:
        return lua_pushinteger(lua_, static_cast<int16_t>(Number(2)));
      case 0xd2:
        return lua_pushinteger(lua_, static_cast<int32_t>(Number(4)));
      case 0xd3:
        return lua_pushnumber(lua_, static_cast<lua_Number>(static_cast<int64_t>(Number(8))));
      case 0xd9:
      case 0xc4:
        return PushString(Number(1));
      case 0xda:
      case 0xc5:
        return PushString(Number(2));
      case 0xdb:
      case 0xc6:
        return PushString(Number(4));
      case 0xdc:
      case 0xdd:
        return PushArray(Number(type == 0xdc ? 2 : 4));
      case 0xde:
      case 0xdf:
        return PushMap(Number(type == 0xde ? 2 : 4));
      default:
        luaL_error(lua_, "Bad data format in input.");
    }
  }

  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) luaL_error(lua_, "Missing bytes in input.");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  uint64_t Number(size_t size) {
    uint64_t value = 0;
    for (const char c : Take(size)) value = (value << 8) | static_cast<unsigned char>(c);
    return value;
  }

  void PushString(uint64_t size) {
    const std::string_view text = Take(size);
    lua_pushlstring(lua_, text.data(), text.size());
  }

  void PushArray(uint64_t size) {
    lua_newtable(lua_);
    for (uint64_t i = 1; i <= size; ++i) {
      PushValue();
      lua_rawseti(lua_, -2, static_cast<int>(i));
    }
  }

  void PushMap(uint64_t size) {
    lua_newtable(lua_);
    for (uint64_t i = 0; i < size; ++i) {
      PushValue();
      PushValue();
      lua_settable(lua_, -3);
    }
  }

  lua_State* lua_;
  std::string_view rest_;
};

// If limit and offset are both 0, returns all values. Otherwise returns the offset after the last
// value, or -1 at the end of the text, and then the values.
int UnpackFull(lua_State* lua, lua_Integer limit, lua_Integer offset) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, 1, &size);
  if (offset < 0 || limit < 0) {
    return luaL_error(lua, "Invalid request to unpack with offset of %d and limit of %d.",
                      static_cast<int>(offset), static_cast<int>(size));
  }
  if (static_cast<size_t>(offset) > size) {
    return luaL_error(lua, "Start offset %d greater than input length %d.",
                      static_cast<int>(offset), static_cast<int>(size));
  }
  lua_settop(lua, 1);
  const bool all = limit == 0 && offset == 0;
  Input input(lua, std::string_view(text, size).substr(static_cast<size_t>(offset)));
  lua_Integer count = 0;
  while (input.left() > 0 && (all || count < limit)) {
    input.PushValue();
    ++count;
  }
  if (all) return static_cast<int>(count);
  luaL_checkstack(lua, 1, "too many values");
  lua_pushinteger(lua, input.left() == 0 ? -1 : static_cast<lua_Integer>(size - input.left()));
  lua_insert(lua, 2);
  return static_cast<int>(count) + 1;
}

int Unpack(lua_State* lua) { return UnpackFull(lua, 0, 0); }

int UnpackOne(lua_State* lua) { return UnpackFull(lua, 1, luaL_optinteger(lua, 2, 0)); }

int UnpackLimit(lua_State* lua) {
  return UnpackFull(lua, luaL_checkinteger(lua, 2), luaL_optinteger(lua, 3, 0));
}

}  // namespace

int OpenCmsgpack(lua_State* lua) {
  lua_newtable(lua);
  lua_pushcfunction(lua, Pack);
  lua_setfield(lua, -2, "pack");
  lua_pushcfunction(lua, Unpack);
  lua_setfield(lua, -2, "unpack");
  lua_pushcfunction(lua, UnpackOne);
  lua_setfield(lua, -2, "unpack_one");
  lua_pushcfunction(lua, UnpackLimit);
  lua_setfield(lua, -2, "unpack_limit");
  lua_pushliteral(lua, "cmsgpack");
  lua_setfield(lua, -2, "_NAME");
  lua_pushliteral(lua, "lua-cmsgpack 0.4.0");
  lua_setfield(lua, -2, "_VERSION");
  return 1;
}

}  // namespace tally::server
