#include "tests/differential/scripts.h"

#include <array>

#include "server/script/sha1.h"

namespace tally::differential {
namespace {

using namespace std::string_view_literals;

constexpr std::array kScripts = {
    "return {KEYS[1] or false, ARGV[1] or false, #KEYS, #ARGV}"sv,
    "return redis.call('GET', KEYS[2] or KEYS[1])"sv,
    "redis.call('RPUSH', KEYS[1], ARGV[1], 'm1') return redis.call('LRANGE', KEYS[1], 0, -1)"sv,
    "redis.call('RPUSH', KEYS[1], 1, 2) redis.call('RPUSH', KEYS[2], 3) "
    "return redis.call('LLEN', KEYS[1])"sv,
    "local n = redis.call('INCRBY', KEYS[1], ARGV[1]) if n > 10 then redis.call('EXPIRE', "
    "KEYS[1], 200000) end return {n, redis.call('TTL', KEYS[1]) > 0}"sv,
    "local r = redis.pcall('INCR', KEYS[1]) if r['err'] then return r['err'] end return r"sv,
    "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[1], unpack(ARGV)) "
    "return redis.call('LLEN', KEYS[1])"sv,
    "redis.call('SET', KEYS[1], 'half') return redis.call('INCR', KEYS[1])"sv,
    "redis.setresp(3) return redis.call('HGET', KEYS[1], 'm1')"sv,
    "redis.call('SELECT', 1) return redis.call('DBSIZE')"sv,
    "return tonumber(ARGV[1]) or redis.error_reply('no number')"sv,
    "return {1, 2, {3, 'four', {5.9, true, false, 'after'}}}"sv,
    "return redis.status_reply(ARGV[1] or 'none')"sv,
    "return cjson.encode({KEYS, ARGV, 0.1, 2^53})"sv,
    "return cmsgpack.unpack(cmsgpack.pack({ARGV, 1.5, -7}))"sv,
    "local t = {} for w in string.gmatch(ARGV[1] or '', '%w+') do t[#t + 1] = w end return t"sv,
    "return redis.sha1hex(ARGV[1] or '')"sv,
    "return string.format('%.17g %s %5d', 0.1, ARGV[1] or '', 7)"sv,
    "error('as told')"sv,
    "error({err = 'MYERR told', code = 1})"sv,
    "return undefined_name"sv,
    "global_name = 1"sv,
    "return redis.call('BLMPOP', 0, 1, KEYS[1], 'LEFT')"sv,
    "return redis.call('nosuch')"sv,
    "return redis.call()"sv,
    "return {}, 1"sv,
    "#!lua flags=no-writes\nreturn redis.call('LPUSH', KEYS[1], 1)"sv,
    "#!lua flags=nosuch\nreturn 1"sv,
    "return ]"sv,
};
constexpr std::array kCallers = {
    "return redis.call(unpack(ARGV))"sv,
    "return redis.pcall(unpack(ARGV))"sv,
    "local reply = redis.call(unpack(ARGV)) return reply"sv,
};

}  // namespace

std::string_view SomeScript(Random& random) { return random.OneOf(kScripts); }

std::string_view CallingScript(Random& random) { return random.OneOf(kCallers); }

std::string NameOfScript(std::string_view text) {
  const server::Sha1Hex name = server::Sha1Of(text);
  return std::string(name.digits.begin(), name.digits.end());
}

}  // namespace tally::differential
