#include "server/script/script_engine.h"

#include <absl/strings/ascii.h>

#include <cstdlib>

#include "core/base/check.h"
#include "core/bytes/double_format.h"
#include "core/bytes/str_cat.h"
#include "server/acl/acl_check.h"
#include "server/command/command_table.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/command_runner.h"
#include "server/interfaces/services.h"
#include "server/resp/reply_reader.h"
#include "server/script/lua_sandbox.h"
#include "server/script/lua_stack.h"
#include "server/script/lua_to_reply.h"
#include "server/script/redis_api.h"
#include "server/script/script_error.h"
#include "server/script/script_source.h"
#include "server/state/key_tracking.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

constexpr char kChunkName[] = "@user_script";
// If the buffer of a reply has more capacity than this, it is freed after the script.
constexpr size_t kKeptCapacity = 64 * 1024;

ScriptEngine* EngineAt(lua_State* lua) {
  return static_cast<ScriptEngine*>(lua_touserdata(lua, 1));
}

void SetArray(lua_State* lua, const char* name, Args values) {
  lua_createtable(lua, static_cast<int>(values.size()), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    lua_pushlstring(lua, values[i].data(), values[i].size());
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
  lua_setfield(lua, -2, name);
}

// Whether the error at `index` has the mark of one that redis.call raised or redis.pcall returned.
bool IsOfCommand(lua_State* lua, int index) {
  if (!lua_istable(lua, index)) return false;
  lua_pushliteral(lua, "ignore_error_stats_update");
  lua_rawget(lua, index);
  const bool marked = lua_toboolean(lua, -1) != 0;
  lua_pop(lua, 1);
  return marked;
}

}  // namespace

ScriptEngine::ScriptEngine(Services& server) : server_(server), watch_(server) {
  script_client_.address = "lua";  // as MONITOR shows it
  script_client_.of_scripts = true;
  OpenState();
}

ScriptEngine::~ScriptEngine() { CloseState(); }

void* ScriptEngine::Allocate(void* engine, void* block, size_t old_size, size_t new_size) {
  size_t& used = static_cast<ScriptEngine*>(engine)->used_bytes_;
  if (new_size == 0) {
    std::free(block);
    used -= old_size;
    return nullptr;
  }
  if (new_size > old_size && used + (new_size - old_size) > kMaxBytes) return nullptr;
  // malloc is quicker than realloc of a null pointer.
  void* grown = block == nullptr ? std::malloc(new_size) : std::realloc(block, new_size);
  if (grown != nullptr) used = used - old_size + new_size;
  return grown;
}

void ScriptEngine::OpenState() {
  lua_ = lua_newstate(Allocate, this);
  Check(lua_ != nullptr, "there is memory for an empty Lua state");
  Check(lua_cpcall(lua_, Open, this) == 0, "the libraries of scripts can be opened");
}

void ScriptEngine::CloseState() {
  lua_close(lua_);
  Check(used_bytes_ == 0, "a closed Lua state holds no memory");
}

int ScriptEngine::Open(lua_State* lua) {
  ScriptEngine& engine = *EngineAt(lua);
  OpenSandbox(lua);
  OpenRedis(lua, engine);
  const auto keep = [lua](lua_CFunction function) {
    lua_pushcfunction(lua, function);
    return luaL_ref(lua, LUA_REGISTRYINDEX);
  };
  engine.compile_ = keep(Compile);
  engine.invoke_ = keep(Invoke);
  engine.add_place_ = keep(AddErrorPlace);
  return 0;
}

bool ScriptEngine::CallProtected(int function) {
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, function);
  lua_pushlightuserdata(lua_, this);
  const int status = lua_pcall(lua_, 1, 0, 0);
  if (status == 0) return true;
  error_ = TextAt(lua_, -1);
  lua_settop(lua_, 0);
  lua_gc(lua_, LUA_GCCOLLECT, 0);
  return false;
}

const Script* ScriptEngine::Find(std::string_view sha) const {
  Sha1Hex name;
  if (sha.size() != name.digits.size()) return nullptr;
  sha.copy(name.digits.data(), sha.size());
  auto found = scripts_.find(name.digits);
  if (found == scripts_.end()) {
    for (char& digit : name.digits) digit = absl::ascii_tolower(static_cast<unsigned char>(digit));
    found = scripts_.find(name.digits);
  }
  return found != scripts_.end() ? &found->second : nullptr;
}

const Script* ScriptEngine::Use(std::string_view sha) {
  const Script* script = Find(sha);
  if (script != nullptr && !script->pinned) by_use_.splice(by_use_.begin(), by_use_, script->use);
  return script;
}

int ScriptEngine::DropOldest() {
  const auto oldest = scripts_.find(by_use_.back());
  const int function = oldest->second.function;
  scripts_.erase(oldest);
  by_use_.pop_back();
  return function;
}

absl::StatusOr<const Script*> ScriptEngine::Load(std::string_view body, bool pinned) {
  const Sha1Hex sha = names_.Of(body);
  if (const Script* known = Use(sha.view())) {
    if (pinned && !known->pinned) {
      by_use_.erase(known->use);
      scripts_[sha.digits].pinned = true;
    }
    return known;
  }
  const ScriptSource source = ParseScript(body);
  if (!source.error.empty()) return absl::InvalidArgumentError(StrCat("ERR ", source.error));
  compilation_ = {source.code, !pinned && by_use_.size() >= kMaxUnpinned};
  if (!CallProtected(compile_)) {
    return absl::InvalidArgumentError(
        StrCat("ERR Error compiling script (new function): ", error_));
  }
  if (!pinned) by_use_.push_front(sha.digits);
  Script& script = scripts_[sha.digits];
  script = {
      sha,    compilation_.function, source.declares_flags, source.no_writes, source.allow_oom,
      pinned, by_use_.begin()};
  return &script;
}

int ScriptEngine::Compile(lua_State* lua) {
  ScriptEngine& engine = *EngineAt(lua);
  Compilation& compilation = engine.compilation_;
  const int status = LoadText(lua, compilation.code, kChunkName);
  if (status != 0) return lua_error(lua);
  // Only now, so that a script that does not compile drops none.
  if (compilation.replaces_oldest) luaL_unref(lua, LUA_REGISTRYINDEX, engine.DropOldest());
  compilation.function = luaL_ref(lua, LUA_REGISTRYINDEX);
  return 0;
}

void ScriptEngine::Flush() {
  scripts_.clear();
  by_use_.clear();
  CloseState();
  OpenState();
}

void ScriptEngine::Run(const Script& script, Client& caller, Args keys, Args args, bool read_only) {
  const ScriptRights rights{.write = !read_only && !script.no_writes,
                            .exceed_memory = script.allow_oom};
  invocation_ = {&script, &caller, keys, args, rights};
  script_client_.database = caller.database;
  script_client_.user = caller.user;
  script_client_.acl = caller.acl;
  script_client_.authenticated = caller.authenticated;
  script_client_.wrote = false;
  set_protocol(2);
  const size_t reply_begin = caller.output.size();
  const EffectStream::Block block(server_.effects);
  watch_.Begin(lua_, script.sha.view(), caller);
  if (!CallProtected(invoke_)) {
    caller.output.Truncate(reply_begin);
    caller.reply.Error(StrCat("ERR Error running script ", script.sha.view(), ", ", error_));
  }
  watch_.End();
  caller.wrote |= script_client_.wrote;
  caller.written_to = std::max(caller.written_to, script_client_.written_to);
  script_client_.output.Clear();
  if (joined_.capacity() > kKeptCapacity) joined_ = {};
}

int ScriptEngine::Invoke(lua_State* lua) {
  ScriptEngine& engine = *EngineAt(lua);
  const Invocation& invocation = engine.invocation_;
  PushGlobals(lua);
  SetArray(lua, "KEYS", invocation.keys);
  SetArray(lua, "ARGV", invocation.args);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, engine.add_place_);
  const int handler = lua_gettop(lua);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, invocation.script->function);
  // An earlier run of the script may have given its function another environment.
  PushEnvironment(lua);
  lua_setfenv(lua, -2);
  const int status = lua_pcall(lua, 0, 1, handler);
  const int result = lua_gettop(lua);
  const size_t reply_begin = invocation.caller->output.size();
  if (status == 0) {
    lua_pushvalue(lua, result);
    ReplyWithTop(lua, invocation.caller->reply, engine.script_client_.reply.protocol());
  } else {
    engine.ReplyFailure(lua);
  }
  // What a command failed with was counted then.
  engine.server_.stats.error_is_counted =
      IsError(invocation.caller->output, reply_begin) && IsOfCommand(lua, result);
  return 0;
}

// Replies with the error at the top of the stack.
void ScriptEngine::ReplyFailure(lua_State* lua) {
  // There was no memory or stack left to add the place. The error goes on to Run, which replies.
  if (!lua_istable(lua, -1)) lua_error(lua);
  lua_getfield(lua, -1, "err");
  lua_getfield(lua, -2, "source");
  lua_getfield(lua, -3, "line");
  const std::string_view text = lua_isnil(lua, -3) ? "ERR unknown error" : LineAt(lua, -3);
  const std::string_view source = TextAt(lua, -2);
  const std::string_view line = TextAt(lua, -1);
  error_.assign(text);
  if (!source.empty() && !line.empty()) {
    StrAppend(error_, " script: ", invocation_.script->sha.view(), ", on ", source, ":", line, ".");
  }
  invocation_.caller->reply.Error(error_);
}

bool ScriptEngine::TakeArgs(lua_State* lua) {
  const auto count = static_cast<size_t>(lua_gettop(lua));
  args_.resize(count);
  if (numbers_.size() < count) numbers_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const int index = static_cast<int>(i) + 1;
    const int type = lua_type(lua, index);
    if (type == LUA_TSTRING) {
      args_[i] = TextAt(lua, index);
    } else if (type == LUA_TNUMBER) {
      char* const digits = numbers_[i].data();
      args_[i] = {digits, FormatDouble(lua_tonumber(lua, index), digits)};
    } else {
      return false;
    }
  }
  return true;
}

size_t ScriptEngine::TakenBytes() const {
  size_t bytes = 0;
  for (const std::string_view arg : args_) bytes += arg.size();
  return bytes;
}

std::optional<bool> ScriptEngine::MayRunTaken() const {
  const CommandEntry* const entry = server_.commands.Resolve(args_);
  const bool lacks_subcommand =
      entry != nullptr && !entry->command->subcommands.empty() && args_.size() > 1;
  if (entry == nullptr || lacks_subcommand) return std::nullopt;
  const AclUser* const user = invocation_.caller->acl.get();
  return user == nullptr || CheckCall(*user, *entry, args_).denial == AclDenial::kNone;
}

// The keys that a read names may be any: as in Redis, what is remembered are those that the script
// was called with.
void ScriptEngine::NoteRead() {
  const CommandEntry* const entry = server_.commands.Resolve(args_);
  if (entry == nullptr) return;
  server_.tracking.NoteScriptRead(*invocation_.caller, *entry, invocation_.keys);
}

std::string_view ScriptEngine::RunTaken() {
  script_client_.output.Clear();
  server_.runner->RunFromScript(script_client_, *invocation_.caller, args_, invocation_.rights);
  if (invocation_.caller->tracking != nullptr) [[unlikely]]
    NoteRead();
  return script_client_.output.View(joined_);
}

}  // namespace tally::server
