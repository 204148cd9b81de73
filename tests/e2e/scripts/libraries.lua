return cjson.encode({1,2,3})
---
return cjson.encode({})
---
return cjson.encode({a=1})
---
return cjson.encode({1.5, true, false, 'x"y\n/é'})
---
return cjson.encode(cjson.null)
---
return cjson.encode(0.1)
---
return cjson.encode(1e20)
---
return cjson.encode(1/0)
---
return cjson.encode({[1]=1,[1000]=2})
---
return cjson.encode({[1]=1,[3]=2})
---
return cjson.encode({[1]=1,a=2})
---
return cjson.encode(function() end)
---
local t={} t[1]=t return cjson.encode(t)
---
return cjson.decode('{"a":[1,2,{"b":null}]}').a[3].b == cjson.null
---
return cjson.decode('[1,2')
---
return cjson.decode('nope')
---
return cjson.decode('"\\u00e9\\n"')
---
return cjson.decode('')
---
return cjson.decode('[1.25,-3,1e3]')
---
return {pcall(cjson.decode,'{')}
---
return cjson.encode(cjson.decode('{"id":12345678901234,"x":[{}]}'))
---
return #cmsgpack.pack({1,2,3})
---
return cmsgpack.pack(1,-1,127,128,255,256,65535,65536,4294967295,4294967296,-32,-33,-128,-129,-32768,-32769,-2147483648,-2147483649)
---
return cmsgpack.pack(1.5,0.1,true,false,nil,'abc')
---
return cmsgpack.pack(string.rep('x',31),string.rep('x',32),string.rep('x',256))
---
return cmsgpack.pack({})
---
return cmsgpack.pack({a=1})
---
return cmsgpack.pack({1,2,nil,4})
---
return cmsgpack.pack({[1]=1,[2]=2,[4]=3})
---
local t={} for i=1,20 do t[i]=i end return cmsgpack.pack(t)
---
local t={1} for i=1,20 do t={t} end return cmsgpack.pack(t)
---
return cmsgpack.pack()
---
return {cmsgpack.unpack(cmsgpack.pack(1,2,3))}
---
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3))}
---
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),1)}
---
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),2)}
---
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),2)}
---
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),2,1)}
---
return {cmsgpack.unpack_one('abc',-1)}
---
return {cmsgpack.unpack_one('abc',9)}
---
return cmsgpack.unpack('\147\1')
---
return cmsgpack.unpack('\193')
---
return cmsgpack.unpack(5)
---
return cmsgpack.unpack({})
---
local t=cmsgpack.unpack(cmsgpack.pack({a={1,'x',{b=2.5}}})) return {t.a[1],t.a[2],tostring(t.a[3].b)}
---
return struct.pack('>I4', 1)
---
return struct.pack('<I4', 1)
---
return struct.pack('i8', -2)
---
return struct.pack('bBhHlL', 1,2,3,4,5,6)
---
return struct.pack('>bBhHlL', -1,2,-3,4,-5,6)
---
return struct.pack('!4bi4',1,2)
---
return struct.pack('!bd',1,2.5)
---
return struct.pack('f',1.5)
---
return struct.pack('>d',0.1)
---
return struct.pack('s','abc')
---
return struct.pack('c5','abcdef')
---
return struct.pack('c5','abc')
---
return struct.pack('c0','abc')
---
return struct.pack('Bxx','5')
---
return struct.pack('z',1)
---
return struct.pack('i99',1)
---
return struct.pack('i4')
---
return struct.pack('!3i',1)
---
return struct.pack('i4','abc')
---
return {struct.unpack('>I4', '\0\0\1\2')}
---
return {struct.unpack('<i2b', '\254\255\128')}
---
return {struct.unpack('Bc0','\3abcdef')}
---
return {struct.unpack('s','abc\0def')}
---
return {struct.unpack('s','abc')}
---
return {struct.unpack('i4','abc')}
---
return {struct.unpack('i4','abcdefgh',5)}
---
return {struct.unpack('i4','abcdefgh',0)}
---
return {struct.unpack('i4','abcdefgh',6)}
---
return {struct.unpack('c0','abc')}
---
return tostring(struct.unpack('>d',struct.pack('>d',0.1)))
---
return struct.size('>bi4s')
---
return struct.size('!bi4')
---
return struct.size('c5')
---
return struct.size('c0')
---
return struct.size('i99999999999')
---
return {bit.tobit(0xffffffff), bit.bnot(0), bit.band(7,3), bit.bor(1,2,4), bit.bxor(5,1), bit.lshift(1,31), bit.rshift(-1,28), bit.arshift(-256,4), bit.rol(1,33), bit.ror(1,1), bit.bswap(1)}
---
return {bit.tohex(255), bit.tohex(255,4), bit.tohex(255,-4), bit.tohex(-1,0)}
---
return bit.band('x')
---
return bit.band()
---
redis.call('SADD', KEYS[1], 'pear', 'apple', 'fig', '10', '9', 'B') return redis.call('SORT', KEYS[1], 'BY', 'nosort')
---
return redis.call('SORT', KEYS[1], 'BY', 'nosort', 'DESC', 'LIMIT', '1', '3')
---
return redis.call('SORT_RO', KEYS[1], 'BY', 'nosort', 'GET', '#')
---
redis.call('SORT', KEYS[1], 'BY', 'nosort', 'DESC', 'STORE', KEYS[2]) return redis.call('LRANGE', KEYS[2], 0, -1)
---
redis.call('DEL', KEYS[1], KEYS[2]) redis.call('SADD', KEYS[1], 30, 4, 200, 1) return redis.call('SORT', KEYS[1], 'BY', 'nosort')
---
redis.call('DEL', KEYS[1]) redis.call('RPUSH', KEYS[1], 3, 1, 2) return redis.call('SORT', KEYS[1], 'BY', 'nosort', 'DESC')
---
redis.call('DEL', KEYS[1]) redis.call('ZADD', KEYS[1], 1, 'z', 2, 'a') return redis.call('SORT', KEYS[1], 'BY', 'nosort', 'ALPHA')
---
local t = {} for i = 1, 7999 do t[i] = i end return redis.call('RPUSH', KEYS[2], unpack(t))
---
local t = {} for i = 1, 7999 do t[i] = i end return redis.pcall('NOSUCH', unpack(t))
---
local t = {} for i = 1, 7999 do t[i] = i end t[7998] = {} return redis.pcall('DEL', unpack(t))
---
local t = {} for i = 1, 7998 do t[i] = 'k' .. i end return #redis.call('MGET', KEYS[1], unpack(t))
---
local t = {} for i = 1, 8000 do t[i] = i end return redis.call('RPUSH', KEYS[2], unpack(t))
---
local t = {} for i = 1, 8000 do t[i] = i end return redis.call('DEL', unpack(t, 1, 7000))
---
local function f(...) return select('#', ...) end local t = {} for i = 1, 7990 do t[i] = i end return f(unpack(t))
---
local t = {} for i = 1, 3900 do t[i] = i % 100 end return #cmsgpack.pack(unpack(t))
---
local t = {} for i = 1, 7990 do t[i] = i % 100 end return #cmsgpack.pack(unpack(t))
---
local t = {} for i = 1, 7999 do t[i] = i % 100 end return #cmsgpack.pack(unpack(t))
---
local r = {} for k, v in pairs(getmetatable(_G)) do r[#r + 1] = k .. ' ' .. type(v) end table.sort(r) return r
---
getmetatable(_G).__index = nil
---
getmetatable(_G).__newindex = function() end
---
rawset(getmetatable(_G), '__index', nil)
---
setmetatable(getmetatable(_G), {})
---
setmetatable(_G, nil)
---
return pcall(getmetatable(_G).__index, _G, 'nosuch')
---
local ok, e = pcall(getmetatable(_G).__index, _G, 'nosuch') return e
---
return {tostring(getmetatable(_G).__metatable), tostring(getmetatable(_G).x), tostring(getmetatable(redis))}
---
return tostring(rawequal(getmetatable(_G), getmetatable(_G)))
---
return nosuch
---
local ok, e = pcall(getmetatable(_G).__index) return e
---
local ok, e = pcall(getmetatable(_G).__index, _G, {}) return e
---
return _G[{}]
---
return _G[1.5]
