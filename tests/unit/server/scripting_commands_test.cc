#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "server/command_harness.h"
#include "server/script/script_engine.h"

namespace tally::server::scripting_commands_test {
namespace {

using Lines = std::vector<std::string>;

std::string Eval(CommandHarness& h, const std::string& script) {
  return h.Run({"EVAL", script, "0"});
}

// The reply without the script's place.
std::string EvalError(CommandHarness& h, const std::string& script) {
  const std::string reply = Eval(h, script);
  return reply.substr(0, reply.find(" script: "));
}

}  // namespace

TEST_CASE("scripts: keys and arguments come in, values go out") {
  CommandHarness h;
  CHECK(h.Run({"EVAL", "return {KEYS[1], ARGV[1], #KEYS, #ARGV}", "1", "k", "a", "b"}) ==
        "[\"k\" \"a\" :1 :2]");
  CHECK(Eval(h, "return 3.99") == ":3");
  CHECK(Eval(h, "return -3.99") == ":-3");
  CHECK(Eval(h, "return {1, 2, nil, 4}") == "[:1 :2]");
  CHECK(Eval(h, "return {true, false, 'x', {}}") == "[:1 nil \"x\" []]");
  CHECK(Eval(h, "return {ok = 'fine'}") == "+fine");
  CHECK(Eval(h, "return {err = 'MINE it is'}") == "-MINE it is");
  CHECK(Eval(h, "return") == "nil");
  CHECK(Eval(h, "return {double = 2.5}") == "\"2.5\"");
  h.Run("HELLO 3");
  CHECK(Eval(h, "return {double = 2.5}") == ",2.5");
  CHECK(Eval(h, "return {map = {a = 1}}") == "{\"a\" :1}");
  CHECK(Eval(h, "return {set = {a = true}}") == "~[\"a\"]");
  CHECK(Eval(h, "redis.setresp(3) return true") == "#t");
}

TEST_CASE("scripts: commands run as the caller, and replies become Lua values") {
  CommandHarness h;
  CHECK(Eval(h, "return redis.call('set', 'k', 0.1)") == "+OK");
  CHECK(h.Run("GET k") == "\"0.10000000000000001\"");
  CHECK(Eval(h, "return redis.call('get', 'none') == false") == ":1");
  CHECK(Eval(h, "return redis.call('incr', 'n') + 1") == ":2");
  CHECK(Eval(h, "return redis.pcall('incr', 'k').err") ==
        "\"ERR value is not an integer or out of range\"");
  CHECK(Eval(h, "redis.call('hset', 'h', 'f', 'v') return redis.call('hgetall', 'h')") ==
        "[\"f\" \"v\"]");
  CHECK(Eval(h, "redis.setresp(3) return redis.call('hgetall', 'h').map.f") == "\"v\"");
  CHECK(h.Run("SELECT 2") == "+OK");
  CHECK(Eval(h, "redis.call('set', 'two', 1) redis.call('select', 3)") == "nil");
  CHECK(h.Run("EXISTS two") == ":1");
}

TEST_CASE("scripts: what they change is logged, and not their text") {
  CommandHarness h;
  CHECK(Eval(h, "redis.call('set', 'a', 1) redis.call('get', 'a') redis.call('incr', 'a')") ==
        "nil");
  CHECK(h.Effects() == Lines{"set a 1", "incr a"});
  CHECK(h.self->wrote);
  h.self->wrote = false;
  CHECK(Eval(h, "return redis.call('get', 'a')") == "\"2\"");
  CHECK(h.Effects().empty());
  CHECK_FALSE(h.self->wrote);
}

TEST_CASE("scripts: an error ends the script and says its place; what it did stays done") {
  CommandHarness h;
  const std::string script = "redis.call('set', 'a', 1)\nreturn redis.call('incr', 'a', 'b')";
  const std::string reply = Eval(h, script);
  CHECK(reply.starts_with("-ERR Wrong number of args calling Redis command from script script: "));
  CHECK(reply.ends_with(", on @user_script:2."));
  CHECK(h.Effects() == Lines{"set a 1"});
  CHECK(EvalError(h, "return redis.call('nosuch')") ==
        "-ERR Unknown Redis command called from script");
  CHECK(EvalError(h, "return redis.call('multi')") ==
        "-ERR This Redis command is not allowed from script");
  CHECK(EvalError(h, "return redis.call({})") ==
        "-ERR Lua redis lib command arguments must be strings or integers");
  CHECK(EvalError(h, "error('boom')") == "-ERR user_script:1: boom");
  CHECK(EvalError(h, "error({})") == "-ERR unknown error");
  CHECK(Eval(h, "x = = 1") ==
        "-ERR Error compiling script (new function): user_script:1: unexpected symbol near '='");
}

TEST_CASE("scripts: a call has at most 8 GiB of arguments, which may be one string many times") {
  CommandHarness h;
  const std::string call =
      "local s, t = string.rep('x', 2 ^ 26), {} "
      "for i = 1, 129 do t[i] = s end "
      "return redis.call('PING', unpack(t))";
  CHECK(EvalError(h, call) ==
        "-ERR Lua redis lib command arguments must have at most 8 GiB together");
}

TEST_CASE("scripts: a script that may not write is told so, and so is one whose log is broken") {
  CommandHarness h;
  const std::string set = "return redis.call('set', 'a', 1)";
  CHECK(h.Run({"EVAL_RO", set, "0"}).starts_with("-ERR Write commands are not allowed from"));
  CHECK(Eval(h, "#!lua flags=no-writes\n" + set).starts_with("-ERR Write commands are not"));
  CHECK(h.Run({"EVAL_RO", "#!lua\nreturn 1", "0"}) ==
        "-ERR Can not execute a script with write flag using *_ro command.");
  CHECK(Eval(h, "#!lua flags=some\nreturn 1") == "-ERR Unexpected flag in script shebang: some");
  h.persistence.error = absl::InternalError("disk full");
  CHECK(Eval(h, set).starts_with("-MISCONF Errors writing to the AOF file: disk full"));
  CHECK(h.Run("EXISTS a") == ":0");
}

TEST_CASE("scripts: a reply without an end is an error") {
  CommandHarness h;
  const std::string reply =
      h.Run({"EVAL", "local t = {} for i = 1, 60 do t = {t, t} end return t", "0"});
  CHECK(reply.starts_with("-ERR Error running script"));
  CHECK(reply.find("the reply is too large") != std::string::npos);
  CHECK(h.Run(CommandHarness::Words{"EVAL", "return 1", "0"}) == ":1");
}

TEST_CASE("scripts: they are kept by the SHA1 of their text") {
  CommandHarness h;
  const std::string sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";  // of "return 1"
  CHECK(h.Run({"EVALSHA", sha, "0"}) == "-NOSCRIPT No matching script. Please use EVAL.");
  CHECK(h.Run({"SCRIPT", "LOAD", "return 1"}) == "\"" + sha + "\"");
  CHECK(h.Run({"EVALSHA", sha, "0"}) == ":1");
  CHECK(h.Run({"EVALSHA", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"}) == ":1");
  CHECK(h.Run({"SCRIPT", "EXISTS", sha, "x"}) == "[:1 :0]");
  CHECK(h.Run("SCRIPT FLUSH") == "+OK");
  CHECK(h.Run({"SCRIPT", "EXISTS", sha}) == "[:0]");
  CHECK(Eval(h, "return 1") == ":1");
  CHECK(h.Run({"EVALSHA_RO", sha, "0"}) == ":1");
  CHECK(h.Run("SCRIPT KILL") == "-NOTBUSY No scripts in execution right now.");
}

TEST_CASE("scripts: of those that came with EVAL the last used are kept") {
  CommandHarness h;
  const auto text = [](size_t n) { return StrCat("return ", n); };
  const auto kept = [&](size_t n) {
    return h.Run({"SCRIPT", "EXISTS", std::string(Sha1Of(text(n)).view())}) == "[:1]";
  };
  CHECK(h.Run({"SCRIPT", "LOAD", text(0)}) != "");
  CHECK(Eval(h, text(1)) == ":1");
  CHECK(Eval(h, text(2)) == ":2");
  for (size_t n = 3; n <= ScriptEngine::kMaxUnpinned; ++n) Eval(h, text(n));
  CHECK(kept(1));
  // One that does not compile takes nobody's place.
  CHECK(Eval(h, "return (").starts_with("-ERR Error compiling script"));
  CHECK(kept(1));
  CHECK(h.Run({"EVALSHA", std::string(Sha1Of(text(1)).view()), "0"}) == ":1");
  CHECK(Eval(h, text(1000)) == ":1000");
  CHECK(kept(0));
  CHECK(kept(1));
  CHECK_FALSE(kept(2));
  CHECK(kept(3));
  CHECK(kept(1000));
}

TEST_CASE("scripts: they run in transactions, and see one time") {
  CommandHarness h;
  h.Run("MULTI");
  CHECK(h.Run({"EVAL", "return redis.call('incr', 'n')", "0"}) == "+QUEUED");
  CHECK(h.Run("GET n") == "+QUEUED");
  CHECK(h.Run("EXEC") == "[:1 \"1\"]");
  CHECK(Eval(h,
             "local a = redis.call('time') local b = redis.call('time') "
             "return a[1] == b[1] and a[2] == b[2]") == ":1");
}

TEST_CASE("scripts: nothing outside can be reached, and nothing shared can be changed") {
  CommandHarness h;
  const char* const refused[] = {
      "return io.open('/etc/passwd')",
      "return os.execute('true')",
      "return require('os')",
      "return package.loadlib('x', 'y')",
      "return debug.getregistry()",
      "return dofile('/etc/passwd')",
      "return loadfile('/etc/passwd')",
      "return print('x')",
      "return newproxy(true)",
      "return setfenv(1, {})",
      "return loadstring(string.dump(function() return 1 end))()",
      "x = 1",
      "function f() end",
      "_G.x = 1",
      "rawset(_G, 'x', 1)",
      "string.upper = nil",
      "rawset(string, 'x', 1)",
      "redis.call = nil",
      "setmetatable(_G, {})",
      "setmetatable(string, {})",
      "getmetatable('').__index = nil",
      "getmetatable(_G).__index = nil",
      "rawset(getmetatable(_G), '__index', nil)",
      "setmetatable(getmetatable(_G), {})",
      "getmetatable('').__index.upper = nil",
      "table.insert(_G, 1)",
      "table.sort(_G)",
      "table.remove(string)",
      "return string.rep(string.rep('x', 1048576), 1024)",
      "local t = {} for i = 1, 1e9 do t[i] = {} end",
      "return unpack({}, -2147483648, 2147483647)",
      "return unpack({}, 1, 1e7)",
      ("local s = string.rep('x', 2^24) local t = {} for i = 1, 64 do t[i] = s end "
       "return cjson.encode(t)"),
      "local function f() return f() .. 'x' end return f()",
  };
  for (const char* script : refused) {
    INFO(script);
    CHECK(Eval(h, script).starts_with("-ERR "));
  }
  CHECK(Eval(h, "return ('x'):upper() .. type(string.upper) .. type(redis.call)") ==
        "\"Xfunctionfunction\"");
  CHECK(Eval(h, "return type(getmetatable(_G).__index) .. tostring(getmetatable(redis))") ==
        "\"functionnil\"");
  CHECK(Eval(h, "local f, t = pairs(string) return rawequal(t, string)") == ":1");
  CHECK(Eval(h, "local n = 0 for k in pairs(redis) do n = n + 1 end return n > 10") == ":1");
  CHECK(Eval(h, "return bit.tohex(65535, -2147483648)") == "\"0000FFFF\"");
}

// What scripts have been used for against redis-server.
TEST_CASE("scripts: known attacks") {
  CommandHarness h;
  const auto refused = [&](const char* script) {
    INFO(script);
    CHECK(Eval(h, script).starts_with("-ERR "));
  };
  // CVE-2022-0543: Debian's Lua left `package` to scripts.
  refused("return package.loadlib('/usr/lib/x86_64-linux-gnu/liblua5.1.so.0', 'luaopen_io')");
  // CVE-2022-24834: cjson counted the length of its text in an int.
  refused("local s = string.rep('\\0', 2^26) return cjson.encode({s, s, s, s, s, s, s})");
  refused("cjson.encode_sparse_array(false, 0) return cjson.encode({[2^31 - 1] = 1})");
  refused("cjson.encode_sparse_array(false, 2^31 - 1, 2^31 - 1) return cjson.encode({[2^30] = 1})");
  refused("cjson.encode_max_depth(2^31 - 1)");
  // CVE-2024-31449: bit.tohex negated the smallest integer.
  CHECK(Eval(h, "return bit.tohex(65535, -2147483648)") == "\"0000FFFF\"");
  // CVE-2024-46981: finalizers of userdata ran in a state that was half closed.
  refused("return newproxy(true)");
  refused("return getmetatable(cjson.null).__gc");
  CHECK(Eval(h,
             "local t = setmetatable({}, {__gc = function() return redis.call('ping') end}) "
             "t = nil collectgarbage() return 1") == ":1");
  CHECK(h.Run("SCRIPT FLUSH") == "+OK");
  // CVE-2025-46817: unpack counted its results in an int.
  refused("return unpack({1, 2, 3}, -2, 2147483647)");
  refused("return unpack({1, 2, 3}, -2147483648, 2147483647)");
  refused("return unpack({}, 0, 2147483647)");
  // CVE-2025-46818: the metatables of strings and numbers are those of all scripts, and all users.
  refused("getmetatable('').__index = function() return 'x' end");
  refused("getmetatable('').__add = function() return 'x' end");
  refused("setmetatable(getmetatable(''), {})");
  refused("rawset(getmetatable('').__index, 'upper', nil)");
  CHECK(Eval(h, "return type(getmetatable(1)) .. type(getmetatable(nil))") == "\"nilnil\"");
  // CVE-2025-46819: the '=' of a long bracket were counted in an int.
  refused(
      "local n = 0 return load(function() n = n + 1 return n == 1 and '[' or string.rep('=', "
      "2^20) end)()");
  // CVE-2025-49844: the name of a chunk could be collected while the chunk was compiled.
  CHECK(Eval(h,
             "for i = 1, 200 do local sent = false "
             "local f = load(function() collectgarbage() if sent then return nil end sent = true "
             "return 'error(1)' end, 'name' .. i .. string.rep('x', 100)) "
             "collectgarbage() local _, text = pcall(f) "
             "if not text:find('name' .. i .. 'x', 1, true) then return text end end return 1") ==
        ":1");
}

TEST_CASE("scripts: MONITOR shows them and what they call") {
  CommandHarness h;
  Client& watcher = *h.Connect();
  h.Run(watcher, "MONITOR");
  h.Run("SELECT 3");
  h.Received(watcher);
  h.Run({"EVAL", "redis.call('set', 'a', 1) return redis.pcall('config', 'get', 'hz')", "0"});
  CHECK(h.Received(watcher) ==
        "+1700000000.000000 [3 127.0.0.1:50001] \"EVAL\" \"redis.call('set', 'a', 1) return "
        "redis.pcall('config', 'get', 'hz')\" \"0\" "
        "+1700000000.000000 [3 lua] \"set\" \"a\" \"1\"");
  h.Run("MULTI");
  h.Run("GET a");
  h.Run("EXEC");
  CHECK(h.Received(watcher) ==
        "+1700000000.000000 [3 127.0.0.1:50001] \"MULTI\" "
        "+1700000000.000000 [3 127.0.0.1:50001] \"GET\" \"a\" "
        "+1700000000.000000 [3 127.0.0.1:50001] \"EXEC\"");
}

TEST_CASE("scripts: libraries") {
  CommandHarness h;
  CHECK(Eval(h, "return cjson.encode({1, 2, {a = cjson.null}})") == "\"[1,2,{\\\"a\\\":null}]\"");
  CHECK(Eval(h, "return cjson.decode('{\"a\": [1, 2.5]}').a[2] * 2") == ":5");
  CHECK(Eval(h, "return bit.band(0xff, 0x0f)") == ":15");
  CHECK(Eval(h, "return {struct.unpack('>I2I4', struct.pack('>I2I4', 1, 2))}") == "[:1 :2 :7]");
  CHECK(Eval(h, "return {struct.unpack('<i3', struct.pack('<i3', -2))}") == "[:-2 :4]");
  CHECK(Eval(h, "return struct.unpack('Bc0', struct.pack('Bc0', 3, 'abc'))") == "\"abc\"");
  CHECK(Eval(h, "return {cmsgpack.unpack(cmsgpack.pack(1, -200, 'x', {1, 2}))}") ==
        "[:1 :-200 \"x\" [:1 :2]]");
  CHECK(Eval(h, "return cmsgpack.unpack(cmsgpack.pack({a = 1.5})).a * 2") == ":3");
  CHECK(Eval(h, "return cmsgpack.unpack('\\147\\1')").starts_with("-ERR user_script:1: Missing"));
  CHECK(Eval(h, "return redis.sha1hex('')") == "\"da39a3ee5e6b4b0d3255bfef95601890afd80709\"");
  CHECK(Eval(h, "return redis.error_reply('no luck').err") == "\"no luck\"");
  CHECK(Eval(h, "return redis.error_reply('no').err") == "\"ERR no\"");
  CHECK(Eval(h, "math.randomseed(7) return tostring(math.random())") == "\"0.26644419658298\"");
  CHECK(Eval(h, "return tostring(math.random())") == "\"0.68203523041775\"");
}

TEST_CASE("scripts: `scripting no` leaves their commands unknown") {
  const CommandTable without(CommandFamilies(false));
  CHECK(without.Find("eval") == nullptr);
  CHECK(without.Find("script") == nullptr);
  CHECK(without.Find("get") != nullptr);
}

}  // namespace tally::server::scripting_commands_test
