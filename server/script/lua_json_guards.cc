// Guards for the functions of cjson, which count bytes in an int and end the process when they
// cannot go on. A value whose text could become too long is refused before (CVE-2022-24834).
//
// The first upvalue of these functions holds the settings of cjson. So it is also the first upvalue
// of a guard, and the second one is the function.
#include <algorithm>

#include "server/script/lua_sandbox.h"
#include "server/script/script_watch.h"

namespace tally::server {
namespace {

constexpr double kMaxBytes = 256.0 * 1024 * 1024;

// The highest settings that a script may choose. With higher ones the bound would not hold.
constexpr lua_Integer kMaxJsonDepth = 1000;  // cjson's default
constexpr lua_Integer kMaxSparseRatio = 100;
constexpr lua_Integer kMaxSparseSafe = 10000;

// Calls the function of cjson that a guard replaces, which is the second upvalue of the guard.
int CallCjson(lua_State* lua) { return lua_tocfunction(lua, lua_upvalueindex(2))(lua); }

// Replaces the function `name` of the table at the top by `guard`.
void GuardFunction(lua_State* lua, const char* name, lua_CFunction guard) {
  lua_getfield(lua, -1, name);
  lua_getupvalue(lua, -1, 1);
  lua_insert(lua, -2);
  lua_pushcclosure(lua, guard, 2);
  lua_setfield(lua, -2, name);
}

// Computes the most bytes that a value can take as JSON.
class JsonBound {
 public:
  explicit JsonBound(lua_State* lua) : lua_(lua), steps_(lua) {}

  double Of(int index, lua_Integer depth) {
    steps_.Step();
    if (lua_type(lua_, index) == LUA_TSTRING) return OfString(index);
    // cjson itself refuses a value that is nested too deep.
    if (!lua_istable(lua_, index) || depth > kMaxJsonDepth) return 40;
    luaL_checkstack(lua_, 4, "excessive nesting");
    double bytes = 2;
    double count = 0;
    double highest = 0;
    lua_pushnil(lua_);
    while (lua_next(lua_, index) != 0) {
      const int value = lua_gettop(lua_);
      const int key = value - 1;
      ++count;
      if (lua_type(lua_, key) == LUA_TNUMBER) highest = std::max(highest, lua_tonumber(lua_, key));
      bytes += 2 + Of(value, depth + 1) + (lua_type(lua_, key) == LUA_TSTRING ? OfString(key) : 40);
      lua_pop(lua_, 1);
      if (bytes > kMaxBytes) {
        lua_pop(lua_, 1);
        return bytes;
      }
    }
    // Missing elements of an array are written as null, unless so many are missing that the table
    // counts as an object.
    const bool is_array = highest <= std::max(count * kMaxSparseRatio, double{kMaxSparseSafe});
    return bytes + (is_array ? 5 * std::max(highest - count, 0.0) : 0);
  }

 private:
  // A byte takes six bytes at most.
  double OfString(int index) { return 6.0 * static_cast<double>(lua_objlen(lua_, index)) + 2; }

  lua_State* lua_;
  StepCounter steps_;
};

int GuardEncode(lua_State* lua) {
  if (lua_gettop(lua) == 1 && JsonBound(lua).Of(1, 0) > kMaxBytes) {
    return luaL_error(lua, "Cannot serialise: the text would be too long");
  }
  return CallCjson(lua);
}

void CheckOption(lua_State* lua, int index, lua_Integer low, lua_Integer high) {
  if (lua_isnoneornil(lua, index)) return;
  const lua_Integer value = luaL_checkinteger(lua, index);
  if (value >= low && value <= high) return;
  lua_pushfstring(lua, "expected integer between %d and %d", static_cast<int>(low),
                  static_cast<int>(high));
  luaL_argerror(lua, index, lua_tostring(lua, -1));
}

int GuardMaxDepth(lua_State* lua) {
  CheckOption(lua, 1, 1, kMaxJsonDepth);
  return CallCjson(lua);
}

int GuardSparseArray(lua_State* lua) {
  CheckOption(lua, 2, 1, kMaxSparseRatio);
  CheckOption(lua, 3, 0, kMaxSparseSafe);
  return CallCjson(lua);
}

// cjson.new makes another cjson, which needs guards too. The only upvalue of this guard is
// cjson.new itself.
int GuardNew(lua_State* lua) {
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_call(lua, 0, 1);
  GuardCjson(lua);
  return 1;
}

}  // namespace

void GuardCjson(lua_State* lua) {
  GuardFunction(lua, "encode", GuardEncode);
  GuardFunction(lua, "encode_max_depth", GuardMaxDepth);
  GuardFunction(lua, "encode_sparse_array", GuardSparseArray);
  lua_getfield(lua, -1, "new");
  lua_pushcclosure(lua, GuardNew, 1);
  lua_setfield(lua, -2, "new");
}

}  // namespace tally::server
