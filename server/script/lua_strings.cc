// Replaces the functions of Lua's string library that can take long. They work as in lstrlib.c of
// Lua 5.1 (Copyright (C) 1994-2012 Lua.org, PUC-Rio; MIT), but the watch can interrupt them.
#include <cctype>
#include <cstring>

#include "server/script/lua_pattern.h"
#include "server/script/lua_sandbox.h"

namespace tally::server {
namespace {

constexpr char kSpecials[] = "^$*+?.([%-";

std::string_view TextArg(lua_State* lua, int index) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, index, &size);
  return {text, size};
}

// Returns where the search begins, from 0, for the argument `index`. A negative argument counts
// from the end.
size_t BeginArg(lua_State* lua, int index, size_t size) {
  ptrdiff_t begin = luaL_optinteger(lua, index, 1);
  if (begin < 0) begin += static_cast<ptrdiff_t>(size) + 1;
  if (begin < 1) return 0;
  return static_cast<size_t>(begin) - 1 < size ? static_cast<size_t>(begin) - 1 : size;
}

int FindPlain(lua_State* lua, std::string_view text, std::string_view wanted, size_t begin) {
  // memmem takes linear time; std::string_view::find does not.
  const void* found =
      ::memmem(text.data() + begin, text.size() - begin, wanted.data(), wanted.size());
  if (found == nullptr) {
    lua_pushnil(lua);
    return 1;
  }
  const ptrdiff_t at = static_cast<const char*>(found) - text.data();
  lua_pushinteger(lua, at + 1);
  lua_pushinteger(lua, at + static_cast<ptrdiff_t>(wanted.size()));
  return 2;
}

int FindOrMatch(lua_State* lua, bool find) {
  const std::string_view text = TextArg(lua, 1);
  const std::string_view wanted = TextArg(lua, 2);
  const size_t begin = BeginArg(lua, 3, text.size());
  if (find && (lua_toboolean(lua, 4) != 0 || std::strpbrk(wanted.data(), kSpecials) == nullptr)) {
    return FindPlain(lua, text, wanted, begin);
  }
  const char* pattern = wanted.data();
  const bool anchored = *pattern == '^';
  if (anchored) ++pattern;
  PatternMatcher matcher(lua, text);
  const char* at = text.data() + begin;
  do {
    const char* end = matcher.Match(at, pattern);
    if (end == nullptr) continue;
    if (!find) return matcher.PushCaptures(at, end, true);
    lua_pushinteger(lua, at - text.data() + 1);
    lua_pushinteger(lua, end - text.data());
    return 2 + matcher.PushCaptures(at, end, false);
  } while (at++ < matcher.end() && !anchored);
  lua_pushnil(lua);
  return 1;
}

int Find(lua_State* lua) { return FindOrMatch(lua, true); }

int Match(lua_State* lua) { return FindOrMatch(lua, false); }

// The upvalues are the text, the pattern, and the position at which to go on.
int NextMatch(lua_State* lua) {
  const std::string_view text = TextArg(lua, lua_upvalueindex(1));
  const char* pattern = lua_tostring(lua, lua_upvalueindex(2));
  PatternMatcher matcher(lua, text);
  const char* at = text.data() + lua_tointeger(lua, lua_upvalueindex(3));
  for (; at <= matcher.end(); ++at) {
    const char* end = matcher.Match(at, pattern);
    if (end == nullptr) continue;
    lua_pushinteger(lua, end - text.data() + (end == at ? 1 : 0));
    lua_replace(lua, lua_upvalueindex(3));
    return matcher.PushCaptures(at, end, true);
  }
  return 0;
}

int GMatch(lua_State* lua) {
  luaL_checkstring(lua, 1);
  luaL_checkstring(lua, 2);
  lua_settop(lua, 2);
  lua_pushinteger(lua, 0);
  lua_pushcclosure(lua, NextMatch, 3);
  return 1;
}

// Adds the replacement when it is a string, in which %0 to %9 stand for captures.
void AddTemplate(lua_State* lua, PatternMatcher& matcher, luaL_Buffer& out, const char* at,
                 const char* end) {
  size_t size = 0;
  const char* text = lua_tolstring(lua, 3, &size);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == '%') {
      ++i;
      if (text[i] == '0') {
        luaL_addlstring(&out, at, static_cast<size_t>(end - at));
        continue;
      }
      if (std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
        matcher.PushCapture(text[i] - '1', at, end);
        luaL_addvalue(&out);
        continue;
      }
    }
    luaL_addchar(&out, text[i]);
  }
}

void AddReplacement(lua_State* lua, PatternMatcher& matcher, luaL_Buffer& out, const char* at,
                    const char* end) {
  const int type = lua_type(lua, 3);
  if (type == LUA_TTABLE) {
    matcher.PushCapture(0, at, end);
    lua_gettable(lua, 3);
  } else if (type == LUA_TFUNCTION) {
    lua_pushvalue(lua, 3);
    lua_call(lua, matcher.PushCaptures(at, end, true), 1);
  } else {
    return AddTemplate(lua, matcher, out, at, end);
  }
  if (lua_toboolean(lua, -1) == 0) {
    lua_pop(lua, 1);
    lua_pushlstring(lua, at, static_cast<size_t>(end - at));
  } else if (lua_isstring(lua, -1) == 0) {
    luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
  }
  luaL_addvalue(&out);
}

int GSub(lua_State* lua) {
  const std::string_view text = TextArg(lua, 1);
  const char* pattern = luaL_checkstring(lua, 2);
  const int type = lua_type(lua, 3);
  const int most = luaL_optint(lua, 4, static_cast<int>(text.size() + 1));
  luaL_argcheck(
      lua,
      type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
      "string/function/table expected");
  const bool anchored = *pattern == '^';
  if (anchored) ++pattern;
  luaL_Buffer out;
  luaL_buffinit(lua, &out);
  PatternMatcher matcher(lua, text);
  const char* at = text.data();
  int replaced = 0;
  while (replaced < most) {
    const char* end = matcher.Match(at, pattern);
    if (end != nullptr) {
      ++replaced;
      AddReplacement(lua, matcher, out, at, end);
    }
    if (end != nullptr && end > at) {
      at = end;
    } else if (at < matcher.end()) {
      luaL_addchar(&out, *at++);
    } else {
      break;
    }
    if (anchored) break;
  }
  luaL_addlstring(&out, at, static_cast<size_t>(matcher.end() - at));
  luaL_pushresult(&out);
  lua_pushinteger(lua, replaced);
  return 2;
}

int Rep(lua_State* lua) {
  const std::string_view text = TextArg(lua, 1);
  const int count = luaL_checkint(lua, 2);
  if (count <= 0 || text.empty()) {
    lua_pushliteral(lua, "");
    return 1;
  }
  size_t size = 0;
  if (__builtin_mul_overflow(text.size(), static_cast<size_t>(count), &size)) {
    return luaL_error(lua, "not enough memory");
  }
  auto* block = static_cast<char*>(lua_newuserdata(lua, size));
  std::memcpy(block, text.data(), text.size());
  for (size_t done = text.size(); done < size;) {
    const size_t more = done < size - done ? done : size - done;
    std::memcpy(block + done, block, more);
    done += more;
  }
  lua_pushlstring(lua, block, size);
  return 1;
}

}  // namespace

void GuardString(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {{"find", Find},    {"match", Match}, {"gmatch", GMatch},
                                     {"gfind", GMatch}, {"gsub", GSub},   {"rep", Rep}};
  for (const luaL_Reg& row : kFunctions) {
    lua_pushcfunction(lua, row.func);
    lua_setfield(lua, -2, row.name);
  }
}

}  // namespace tally::server
