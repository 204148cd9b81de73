// cmsgpack: converts Lua values to MessagePack and back. It chooses the encodings as Salvatore
// Sanfilippo's library of that name, version 0.4, does, because scripts expect them.
#include <bit>
#include <cstdint>
#include <string_view>

#include "server/script/lua_sandbox.h"
#include "server/script/message_packer.h"

namespace tally::server {
namespace {

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
  lua_pushcfunction(lua, PackMessage);
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
