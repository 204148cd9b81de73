#include "server/script/redis_api.h"

#include <optional>
#include <string>

#include "server/config/version.h"
#include "server/interfaces/services.h"
#include "server/log/log.h"
#include "server/script/lua_sandbox.h"
#include "server/script/lua_stack.h"
#include "server/script/reply_to_lua.h"
#include "server/script/script_error.h"

namespace tally::server {
namespace {

ScriptEngine& EngineOf(lua_State* lua) {
  return *static_cast<ScriptEngine*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

// A call may have one string many times, so its arguments may have any number of bytes together.
// The append-only file holds no command of 10 GB or more.
constexpr size_t kMostCallBytes = size_t{8} << 30;

// Takes the arguments of a command. Returns false after pushing an error.
bool TakeCall(lua_State* lua) {
  if (lua_gettop(lua) == 0) {
    PushError(lua, "Please specify at least one argument for this redis lib call");
    return false;
  }
  if (!EngineOf(lua).TakeArgs(lua)) {
    PushError(lua, "Lua redis lib command arguments must be strings or integers");
    return false;
  }
  if (EngineOf(lua).TakenBytes() <= kMostCallBytes) return true;
  PushError(lua, "Lua redis lib command arguments must have at most 8 GiB together");
  return false;
}

// Leaves the reply at the top of the stack. Returns true if the reply is an error.
bool RunCommand(lua_State* lua) {
  ScriptEngine& engine = EngineOf(lua);
  engine.watch().Check(lua);
  if (!TakeCall(lua)) return true;
  const std::string_view wire = engine.RunTaken();
  lua_settop(lua, 0);  // many arguments leave no stack for the reply
  ReplyReader reply(wire);
  PushReply(lua, reply);
  return IsError(wire);
}

int RedisCall(lua_State* lua) { return RunCommand(lua) ? lua_error(lua) : 1; }

int RedisPcall(lua_State* lua) {
  RunCommand(lua);
  return 1;
}

// Pushes whether the user may run a command. The command is not run.
int AclCheckCmd(lua_State* lua) {
  if (!TakeCall(lua)) return lua_error(lua);
  const std::optional<bool> allowed = EngineOf(lua).MayRunTaken();
  if (!allowed) return RaiseError(lua, "Invalid command passed to redis.acl_check_cmd()");
  lua_pushboolean(lua, *allowed);
  return 1;
}

int ErrorReply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
    PushError(lua, "wrong number or type of arguments");
    return 1;
  }
  if (!TextAt(lua, 1).starts_with('-')) {
    lua_pushliteral(lua, "-");
    lua_insert(lua, 1);
    lua_concat(lua, 2);
  }
  PushError(lua, TextAt(lua, 1));
  return 1;
}

int StatusReply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
    PushError(lua, "wrong number or type of arguments");
    return 1;
  }
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "ok");
  return 1;
}

int Sha1(lua_State* lua) {
  if (lua_gettop(lua) != 1) return RaiseError(lua, "wrong number of arguments");
  const Sha1Hex sha = Sha1Of(TextAt(lua, 1));
  lua_pushlstring(lua, sha.view().data(), sha.view().size());
  return 1;
}

int Log(lua_State* lua) {
  constexpr LogLevel kLevels[] = {LogLevel::kDebug, LogLevel::kVerbose, LogLevel::kNotice,
                                  LogLevel::kWarning};
  const int count = lua_gettop(lua);
  if (count < 2) return RaiseError(lua, "redis.log() requires two arguments or more.");
  if (lua_isnumber(lua, 1) == 0) {
    return RaiseError(lua, "First argument must be a number (log level).");
  }
  const lua_Integer level = lua_tointeger(lua, 1);
  if (level < 0 || level > 3) return RaiseError(lua, "Invalid debug level.");
  const Logger& log = EngineOf(lua).server().log;
  if (!log.Enabled(kLevels[level])) return 0;
  luaL_Buffer message;
  luaL_buffinit(lua, &message);
  for (int i = 2; i <= count; ++i) {
    if (lua_isstring(lua, i) == 0) continue;
    if (i > 2) luaL_addchar(&message, ' ');
    lua_pushvalue(lua, i);
    luaL_addvalue(&message);
  }
  luaL_pushresult(&message);
  log.Write(kLevels[level], TextAt(lua, -1));
  return 0;
}

int SetResp(lua_State* lua) {
  if (lua_gettop(lua) != 1) return RaiseError(lua, "redis.setresp() requires one argument.");
  const lua_Integer protocol = lua_tointeger(lua, 1);
  if (protocol != 2 && protocol != 3) return RaiseError(lua, "RESP version must be 2 or 3.");
  EngineOf(lua).set_protocol(static_cast<int>(protocol));
  return 0;
}

// Has no effect: a script cannot choose which of its effects are logged. All are.
int SetRepl(lua_State* lua) {
  constexpr lua_Integer kAll = 3;
  if (lua_gettop(lua) != 1) return RaiseError(lua, "redis.set_repl() requires two arguments.");
  const lua_Integer flags = lua_tointeger(lua, 1);
  if ((flags & ~kAll) != 0) {
    return RaiseError(lua,
                      "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or "
                      "REPL_NONE.");
  }
  return 0;
}

int ReplicateCommands(lua_State* lua) {
  lua_pushboolean(lua, 1);
  return 1;
}

struct Function {
  const char* name;
  lua_CFunction function;
};
constexpr Function kFunctions[] = {
    {"call", RedisCall},
    {"pcall", RedisPcall},
    {"acl_check_cmd", AclCheckCmd},
    {"error_reply", ErrorReply},
    {"status_reply", StatusReply},
    {"sha1hex", Sha1},
    {"log", Log},
    {"setresp", SetResp},
    {"set_repl", SetRepl},
    {"replicate_commands", ReplicateCommands},
};

struct Constant {
  const char* name;
  int value;
};
constexpr Constant kConstants[] = {
    {"LOG_DEBUG", 0},    {"LOG_VERBOSE", 1},
    {"LOG_NOTICE", 2},   {"LOG_WARNING", 3},
    {"REPL_NONE", 0},    {"REPL_AOF", 1},
    {"REPL_REPLICA", 2}, {"REPL_SLAVE", 2},
    {"REPL_ALL", 3},     {"REDIS_VERSION_NUM", 0x07000F},
};

}  // namespace

void OpenRedis(lua_State* lua, ScriptEngine& engine) {
  PushGlobals(lua);
  lua_newtable(lua);
  for (const Function& row : kFunctions) {
    lua_pushlightuserdata(lua, &engine);
    lua_pushcclosure(lua, row.function, 1);
    lua_setfield(lua, -2, row.name);
  }
  for (const Constant& row : kConstants) {
    lua_pushinteger(lua, row.value);
    lua_setfield(lua, -2, row.name);
  }
  lua_pushlstring(lua, kRedisVersion.data(), kRedisVersion.size());
  lua_setfield(lua, -2, "REDIS_VERSION");
  ProtectTop(lua);
  lua_setfield(lua, -2, "redis");
  lua_pop(lua, 1);
}

}  // namespace tally::server
