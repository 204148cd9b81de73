// Replaces functions of Lua's own libraries with which a script could leave the sandbox or damage
// the process.
#include <bit>
#include <climits>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "server/script/lua_numbers.h"
#include "server/script/lua_sandbox.h"
#include "server/script/lua_stack.h"
#include "server/script/script_watch.h"

namespace tally::server {
namespace {

// Replaces the function `name` of the table at the top by `guard`, which has that function as its
// upvalue.
void Guard(lua_State* lua, const char* name, lua_CFunction guard) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, guard, 1);
  lua_setfield(lua, -2, name);
}

void Replace(lua_State* lua, const char* name, lua_CFunction function) {
  lua_pushcfunction(lua, function);
  lua_setfield(lua, -2, name);
}

// For functions that write into their first argument and bypass its metatable.
int GuardWrite(lua_State* lua) {
  if (PushProtected(lua, 1)) {
    lua_pushliteral(lua, "Attempt to modify a readonly table");
    return lua_error(lua);
  }
  return CallGuarded(lua);
}

// For functions that read their first argument and bypass its metatable.
int GuardRead(lua_State* lua) {
  if (PushProtected(lua, 1)) lua_replace(lua, 1);
  return CallGuarded(lua);
}

// For a proxy, pairs returns the `next` that reads from the real table, and the proxy itself, so
// that a script never gets the real table.
int Pairs(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  const bool is_proxy = PushProtected(lua, 1);
  lua_pushvalue(lua, lua_upvalueindex(is_proxy ? 2 : 1));
  lua_pushvalue(lua, 1);
  lua_pushnil(lua);
  return 3;
}

// An error that is a table with a field `err`, as redis.call raises it, is returned as the text of
// that field.
int Pcall(lua_State* lua) {
  luaL_checkany(lua, 1);
  const int arguments = lua_gettop(lua) - 1;
  lua_pushboolean(lua, 1);
  lua_insert(lua, 1);
  if (lua_pcall(lua, arguments, LUA_MULTRET, 0) == 0) return lua_gettop(lua);
  if (lua_istable(lua, -1)) {
    lua_pushliteral(lua, "err");
    lua_rawget(lua, -2);
    lua_isstring(lua, -1) != 0 ? lua_replace(lua, -2) : lua_pop(lua, 1);
  }
  lua_pushboolean(lua, 0);
  lua_insert(lua, -2);
  return 2;
}

// Lua's own xpcall calls the handler where the error is raised. That may be inside the hook that
// ends a script, and a handler that does not return could not be ended there. This one calls it
// afterwards. Scripts have no `debug`, so they cannot see the difference.
int XPcall(lua_State* lua) {
  luaL_checkany(lua, 2);
  lua_settop(lua, 2);
  lua_pushvalue(lua, 1);
  int status = lua_pcall(lua, 0, LUA_MULTRET, 0);
  if (status == 0) {
    lua_pushboolean(lua, 1);
    lua_replace(lua, 2);
    return lua_gettop(lua) - 1;
  }
  if (status == LUA_ERRRUN) {
    lua_pushvalue(lua, 2);
    lua_insert(lua, -2);
    status = lua_isfunction(lua, 2) ? lua_pcall(lua, 1, 1, 0) : LUA_ERRERR;
    if (status != 0) lua_pushliteral(lua, "error in error handling");
  }
  lua_pushboolean(lua, 0);
  lua_insert(lua, -2);
  return 2;
}

// Lua takes a text for bytecode if it begins with the signature of bytecode. So a blank is put
// before each text.
constexpr std::string_view kBlank = " ";

struct ScriptText {
  std::string_view rest;
  bool begun = false;
};

const char* ReadText(lua_State*, void* source, size_t* size) {
  ScriptText& text = *static_cast<ScriptText*>(source);
  const std::string_view piece = text.begun ? std::exchange(text.rest, {}) : kBlank;
  text.begun = true;
  *size = piece.size();
  return piece.data();
}

// The function in slot 1 returns the pieces of the text. Slot 3 keeps the piece that is in use.
const char* ReadPiece(lua_State* lua, void* begun, size_t* size) {
  if (!std::exchange(*static_cast<bool*>(begun), true)) {
    *size = kBlank.size();
    return kBlank.data();
  }
  luaL_checkstack(lua, 2, "too many nested functions");
  lua_pushvalue(lua, 1);
  lua_call(lua, 0, 1);
  *size = 0;
  if (lua_isnil(lua, -1)) {
    lua_pop(lua, 1);
    return nullptr;
  }
  if (lua_isstring(lua, -1) == 0) luaL_error(lua, "reader function must return a string");
  lua_replace(lua, 3);
  return lua_tolstring(lua, 3, size);
}

// Returns what load and loadstring return: the function, or nil and the error.
int Loaded(lua_State* lua, int status) {
  if (status == 0) return 1;
  lua_pushnil(lua);
  lua_insert(lua, -2);
  return 2;
}

int LoadString(lua_State* lua) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, 1, &size);
  const char* name = luaL_optstring(lua, 2, text);
  return Loaded(lua, LoadText(lua, {text, size}, name));
}

int Load(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TFUNCTION);
  const char* name = luaL_optstring(lua, 2, "=(load)");
  lua_settop(lua, 3);
  lua_pushstring(lua, name);  // kept alive as in LoadText
  bool begun = false;
  return Loaded(lua, lua_load(lua, ReadPiece, &begun, name));
}

// Allows only what has no lasting effect: a script that stops or tunes the collector would affect
// later scripts.
int CollectGarbage(lua_State* lua) {
  const char* option = luaL_optstring(lua, 1, "collect");
  const bool harmless = std::strcmp(option, "collect") == 0 || std::strcmp(option, "count") == 0 ||
                        std::strcmp(option, "step") == 0;
  if (harmless) return CallGuarded(lua);
  lua_pushinteger(lua, 0);
  return 1;
}

// unpack of Lua 5.1 counts its results in an int, and writes beyond the stack when that overflows
// (CVE-2025-46817).
int GuardUnpack(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  const int64_t first = luaL_optint(lua, 2, 1);
  const int64_t last =
      lua_isnoneornil(lua, 3) ? static_cast<int64_t>(lua_objlen(lua, 1)) : luaL_checkint(lua, 3);
  if (last - first >= LUAI_MAXCSTACK) return luaL_error(lua, "too many results to unpack");
  return CallGuarded(lua);
}

// Each coroutine counts its instructions from zero, so the hook would never see many short
// coroutines.
int GuardCreate(lua_State* lua) {
  ScriptWatch::Of(lua).Check(lua);
  return CallGuarded(lua);
}

int LessThan(lua_State* lua) {
  ScriptWatch::Of(lua).Check(lua);
  lua_pushboolean(lua, lua_lessthan(lua, 1, 2));
  return 1;
}

// Sorting is quadratic in the worst case, so long tables are sorted with a comparison that asks the
// watch. A comparison function of the script is watched like all of its code.
int GuardSort(lua_State* lua) {
  constexpr size_t kSoonSorted = 4096;
  if (lua_istable(lua, 1) && lua_isnoneornil(lua, 2) && lua_objlen(lua, 1) > kSoonSorted) {
    lua_settop(lua, 1);
    lua_pushcfunction(lua, LessThan);
  }
  return GuardWrite(lua);
}

// The generator of POSIX's lrand48, as in redis-server: after the same math.randomseed, scripts get
// the same numbers on both.
struct RandomState {
  uint64_t x = 0x1234ABCD330E;
};

constexpr uint64_t kMask48 = (uint64_t{1} << 48) - 1;

RandomState* RandomOf(lua_State* lua) {
  return static_cast<RandomState*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

int Random(lua_State* lua) {
  RandomState* random = RandomOf(lua);
  random->x = (random->x * 0x5DEECE66D + 0xB) & kMask48;
  const auto drawn = static_cast<int32_t>(random->x >> 17);
  const lua_Number r = static_cast<lua_Number>(drawn % INT32_MAX) / INT32_MAX;
  switch (lua_gettop(lua)) {
    case 0:
      lua_pushnumber(lua, r);
      return 1;
    case 1: {
      const int high = luaL_checkint(lua, 1);
      luaL_argcheck(lua, 1 <= high, 1, "interval is empty");
      lua_pushnumber(lua, __builtin_floor(r * high) + 1);
      return 1;
    }
    case 2: {
      const int low = luaL_checkint(lua, 1);
      const int high = luaL_checkint(lua, 2);
      luaL_argcheck(lua, low <= high, 2, "interval is empty");
      const int64_t count = int64_t{high} - low + 1;
      lua_pushnumber(lua, __builtin_floor(r * static_cast<lua_Number>(count)) + low);
      return 1;
    }
    default:
      return luaL_error(lua, "wrong number of arguments");
  }
}

int RandomSeed(lua_State* lua) {
  const auto seed = static_cast<uint32_t>(luaL_checkinteger(lua, 1));
  RandomOf(lua)->x = (uint64_t{seed} << 16) | 0x330E;
  return 0;
}

// tohex negates a negative second argument, and then counts down from it. INT32_MIN stays negative
// when it is negated, and tohex would write outside its buffer.
int GuardToHex(lua_State* lua) {
  // The library converts a number to bits this way: it adds this constant and takes the low 32 bits
  // of the sum.
  constexpr lua_Number kToBits = 0x1.8p52;
  if (lua_isnumber(lua, 2) != 0) {
    const auto bits = std::bit_cast<uint64_t>(lua_tonumber(lua, 2) + kToBits);
    if (static_cast<int32_t>(bits) == INT32_MIN) {
      lua_pushinteger(lua, -8);
      lua_replace(lua, 2);
    }
  }
  return CallGuarded(lua);
}

}  // namespace

int LoadText(lua_State* lua, std::string_view text, const char* name) {
  ScriptText source{text};
  lua_pushstring(lua, name);  // lua_load does not keep its copy alive (CVE-2025-49844)
  const int status = lua_load(lua, ReadText, &source, name);
  lua_remove(lua, -2);
  return status;
}

void GuardBase(lua_State* lua) {
  lua_getfield(lua, -1, "next");
  lua_pushvalue(lua, -1);
  lua_pushcclosure(lua, GuardRead, 1);
  lua_pushvalue(lua, -1);
  lua_setfield(lua, -4, "next");
  lua_pushcclosure(lua, Pairs, 2);  // its upvalues: both versions of next
  lua_setfield(lua, -2, "pairs");
  Guard(lua, "rawget", GuardRead);
  Guard(lua, "rawset", GuardWrite);
  Guard(lua, "setmetatable", GuardWrite);
  Guard(lua, "getmetatable", GuardRead);
  Guard(lua, "collectgarbage", CollectGarbage);
  Guard(lua, "unpack", GuardUnpack);
  Guard(lua, "tostring", GuardToString);
  Guard(lua, "tonumber", GuardToNumber);
  Replace(lua, "pcall", Pcall);
  Replace(lua, "xpcall", XPcall);
  Replace(lua, "load", Load);
  Replace(lua, "loadstring", LoadString);
}

void GuardTable(lua_State* lua) {
  for (const char* name : {"insert", "remove"}) Guard(lua, name, GuardWrite);
  Guard(lua, "sort", GuardSort);
}

void GuardCoroutine(lua_State* lua) {
  for (const char* name : {"create", "wrap"}) Guard(lua, name, GuardCreate);
}

void GuardMath(lua_State* lua) {
  *static_cast<RandomState*>(lua_newuserdata(lua, sizeof(RandomState))) = RandomState();
  lua_pushvalue(lua, -1);
  lua_pushcclosure(lua, Random, 1);
  lua_setfield(lua, -3, "random");
  lua_pushcclosure(lua, RandomSeed, 1);
  lua_setfield(lua, -2, "randomseed");
}

void GuardBit(lua_State* lua) { Guard(lua, "tohex", GuardToHex); }

}  // namespace tally::server
