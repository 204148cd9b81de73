local t = {} for i = 1, 5 do t[i] = i * i end return t
---
local s = '' for k, v in ipairs({'a','b','c'}) do s = s .. k .. v end return s
---
local keys = {} for k in pairs({x=1,y=2,z=3}) do keys[#keys+1] = k end table.sort(keys) return keys
---
return table.concat({1,2,3}, '-')
---
return {string.find('hello world', 'o w')}
---
return {string.match('2024-05-06', '(%d+)-(%d+)-(%d+)')}
---
return {string.gsub('hello', 'l', 'L')}
---
local r = {} for w in string.gmatch('one two three', '%a+') do r[#r+1] = w end return r
---
return string.format('%5.2f|%d|%s|%q|%x', 3.14159, 42, 'x', 'a"b', 255)
---
return string.format('%d', '12')
---
return string.format('%y', 1)
---
return string.format('%s')
---
return {string.byte('abc', 1, -1)}
---
return ('x'):rep(3) .. ('abc'):upper():lower():reverse():len()
---
return string.char(72, 105)
---
return {math.floor(3.7), math.ceil(3.2), math.max(1,5,3), math.min(2,0), math.abs(-4), math.fmod(7,3), math.modf(3.7)}
---
return {tostring(math.pi), tostring(math.huge), tostring(math.sqrt(2)), tostring(2^0.5)}
---
return {tonumber('10'), tonumber('0x1F'), tonumber('z',36), tonumber('11',2), tostring(tonumber('x'))}
---
return {tonumber(ARGV[1]) + 1, tonumber(ARGV[2]) * 2, tostring(tonumber(ARGV[3]))}
---
return ARGV[1] + ARGV[2]
---
return ARGV[1] .. ARGV[3]
---
return ARGV[3] + 1
---
return {} .. 'x'
---
return #nil
---
return nil < 1
---
return {} < {}
---
return 1 < 'x'
---
local t = setmetatable({}, {__index = function(t, k) return k .. '!' end}) return t.foo
---
local t = setmetatable({}, {__call = function(self, a) return a * 2 end}) return t(21)
---
local t = setmetatable({}, {__tostring = function() return 'me' end}) return tostring(t)
---
local t = setmetatable({1,2}, {__len = function() return 9 end}) return #t
---
local t = setmetatable({}, {__metatable = 'locked'}) return getmetatable(t)
---
local t = setmetatable({}, {__metatable = 'locked'}) setmetatable(t, {})
---
local co = coroutine.create(function(a) local b = coroutine.yield(a + 1) return b * 2 end) local _, x = coroutine.resume(co, 1) local _, y = coroutine.resume(co, 10) return {x, y, coroutine.status(co)}
---
local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) return {gen(), gen(), gen()}
---
local co = coroutine.wrap(function() return redis.call('set', 'co', 'yes') end) co() return redis.call('get', 'co')
---
local co = coroutine.wrap(function() error('inside') end) co()
---
return {select('#', 1, nil, 3), select(2, 'a', 'b', 'c')}
---
return {unpack({1, 2, 3}, 2)}
---
return {unpack({}, 1, 3)}
---
return {type(nil), type(1), type('x'), type({}), type(print_me == nil)}
---
return {type(nil), type(1), type('x'), type({}), type(type), type(true)}
---
return _VERSION
---
return {pcall(function() return 1, 2, 3 end)}
---
return {pcall(function() local x = nil + 1 end)}
---
local ok, e = pcall(function() error({code = 5}) end) return e.code
---
local ok, e = pcall(function() error({err = 'MINE text'}) end) return e
---
return {xpcall(function() return 'fine' end, function() return 'bad' end)}
---
assert(false)
---
assert(nil, 'the message')
---
return assert(1, 'unused')
---
assert(false, {err = 'CUSTOM error'})
---
return redis.error_reply('CUSTOM error')
---
local r = redis.pcall('hget', KEYS[1]) if r.err then return r end return 'no error'
---
redis.call('set', KEYS[1], 'v') return redis.pcall('lpush', KEYS[1], 1)
---
redis.call('set', KEYS[1], 'v') local r = redis.pcall('lpush', KEYS[1], 1) return r.err
---
redis.call('set', KEYS[1], 'v') error(redis.pcall('lpush', KEYS[1], 1))
---
local function f() redis.call('nosuch') end
f()
---
local function f()
  error('deep')
end
f()
---
local f = loadstring('error("in loaded")') f()
---
local f = loadstring('return ...') return f(7)
---
local f = loadstring('return KEYS[1]') return f()
---
loadstring('x = 1')()
---
return redis.call('set', KEYS[1], ARGV[1], 'EX', 100, 'NX')
---
redis.call('del', KEYS[1]) return {redis.call('set', KEYS[1], ARGV[1], 'EX', 100, 'NX'), redis.call('ttl', KEYS[1])}
---
redis.call('del', KEYS[1]) local n = redis.call('incr', KEYS[1]) if n == 1 then redis.call('pexpire', KEYS[1], 60000) end return {n, redis.call('pttl', KEYS[1]) > 0}
---
redis.call('del', KEYS[1]) for i = 1, 10 do redis.call('zadd', KEYS[1], i, 'm' .. i) end return redis.call('zrange', KEYS[1], 0, -1, 'withscores')
---
return redis.call('zremrangebyscore', KEYS[1], '-inf', 5)
---
return {redis.call('zcard', KEYS[1]), redis.call('zscore', KEYS[1], 'm7'), redis.call('zrangebyscore', KEYS[1], '(6', '+inf', 'limit', 0, 2)}
---
redis.call('del', KEYS[2]) redis.call('hmset', KEYS[2], 'tokens', 5, 'ts', 1700000000.25) local h = redis.call('hmget', KEYS[2], 'tokens', 'ts', 'none') return {h[1], h[2], h[3]}
---
return redis.call('hincrbyfloat', KEYS[2], 'tokens', -0.25)
---
return redis.call('hgetall', KEYS[2])
---
redis.setresp(3) local m = redis.call('hgetall', KEYS[2]).map return {m.tokens, m.ts}
---
return redis.call('type', KEYS[2])
---
return redis.call('type', KEYS[2]).ok
---
return redis.call('exists', KEYS[1], KEYS[2], 'none')
---
return redis.call('mget', 'none', 'none2')
---
local r = redis.call('mget', 'none', 'none2') return {r[1] == false, #r}
---
redis.setresp(3) local r = redis.call('mget', 'none', 'none2') return {r[1] == nil, #r}
---
redis.call('rpush', 'l', 1, 2, 3) return redis.call('lrange', 'l', 0, -1)
---
return {redis.call('lpop', 'l'), redis.call('llen', 'l'), redis.call('lindex', 'l', 5)}
---
redis.call('sadd', 's', 'only') return {redis.call('sismember', 's', 'only'), redis.call('smembers', 's')}
---
local t = redis.call('time') return {#t, type(t[1]), tonumber(t[1]) > 1600000000}
---
return redis.call('incrby', 'big', 9007199254740993)
---
return redis.call('incrby', 'big2', '9007199254740993')
---
redis.call('set', 'f', 12345678.9) return redis.call('get', 'f')
---
redis.call('set', 'f', 1e-7) return redis.call('get', 'f')
---
redis.call('set', 'f', 100) return redis.call('get', 'f')
---
redis.call('set', 'f', -5) return redis.call('get', 'f')
---
redis.call('set', 'f', 2^31) return redis.call('get', 'f')
---
redis.call('set', 'f', 123456789012345678) return redis.call('get', 'f')
---
return redis.call('GeT', 'f')
---
return redis.call(' get', 'f')
---
return redis.call('', 'f')
---
return redis.call('set', 'bin', '\0\1\2\r\n\255')
---
return redis.call('get', 'bin')
---
return {{1, {2, {3, {'deep'}}}}, {}}
---
return {ok = 'a', err = 'B c'}
---
return {err = 'B c', map = {}}
---
return {'a', ok = 'yes'}
---
return {[2] = 'x'}
---
return {map = {}}
---
return {set = {}}
---
return {map = {a = {map = {b = {double = 0.5}}}}}
---
return {double = -0.0}
---
return {double = 1e300}
---
return {double = 100}
---
return {big_number = 5}
---
return {verbatim_string = {string = 's', format = 'm'}}
---
return {verbatim_string = {string = 's', format = 'markdown'}}
---
return {verbatim_string = 'x'}
---
return {map = 5}
---
return {set = 'x', 1}
---
return 9007199254740993
---
return -0.0
---
return 2^62
---
return 2^63
---
return '' 
---
return '\0'
---
return 1e15 + 0.5
---
KEYS[1] = 'changed' return KEYS[1]
---
ARGV[10] = 'x' return #ARGV
---
return table.getn({1,2,3})
---
return table.maxn({1,2,[10]=1})
---
local t = {3,1,2} table.sort(t, function(a, b) return a > b end) return t
---
local t = {1,2,3} table.insert(t, 2, 'x') return {t[2], table.remove(t), table.remove(t, 1), #t}
---
table.insert({1}, 1, 2, 3)
---
table.insert()
---
return next({})
---
local k, v = next({7}) return {k, v}
---
return rawequal('a', 'a')
---
return {rawget({5}, 1), rawset({}, 1, 9)[1]}
---
return string.rep('ab', 3)
---
return collectgarbage('step') ~= nil
---
return type(gcinfo())
---
-- differs: os has its clock here
return os.time()
---
-- differs: os has its clock here
return os.clock() >= 0
---
return io.open('x')
---
return require('x')
---
return package.path
---
return debug.traceback()
---
return dofile('x')
---
return print('x')
---
return getfenv(1)
---
goto_x = 1
---
for i = 1, 3 do local redis = i end return type(redis)
---
local redis = {call = function() return 'mine' end} return redis.call()
---
local _G = nil return type(redis)
---
return _G.redis == redis
---
return _G._G == _G
---
return rawget(_G, '_G') == _G
---
return _G['nosuch']
---
return redis.REDIS_VERSION .. ' ' .. redis.REDIS_VERSION_NUM
---
return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING, redis.REPL_ALL, redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA}
