return redis.call('nosuch')
---
return redis.call('get')
---
return redis.call()
---
return redis.call({})
---
return redis.call('get',{})
---
return redis.call('get',true)
---
return redis.pcall('nosuch')
---
local e=redis.pcall('nosuch') local r={} for k,v in pairs(e) do r[#r+1]=k..'='..tostring(v) end table.sort(r) return r
---
return redis.call('multi')
---
return redis.call('set','x')
---
redis.call('set','k','v') return redis.call('incr','k')
---
return redis.call('lpush','k','v')
---
local e=redis.pcall('lpush','k','v') return {e.err, e.source or 'nosource', e.line or 'noline', tostring(e.ignore_error_stats_update)}
---
return {err='FOO bar'}
---
return {err='my err'}
---
return redis.error_reply('my err')
---
return redis.error_reply('-my err')
---
return redis.error_reply('ERR my err')
---
return redis.error_reply('my')
---
return redis.error_reply(5)
---
return redis.error_reply({})
---
return redis.error_reply()
---
return redis.error_reply('a','b')
---
return redis.status_reply('fine\r\nx')
---
return redis.status_reply()
---
error('boom')
---
error({err='boom'})
---
error({err='BOOM bang'})
---
error({err='BOOM bang\r\nx'})
---
error(nil)
---
error()
---
error(5)
---
error('x',0)
---
error('x',2)
---
error(true)
---
local x = nil; return x.y
---
local x = nil; return nosuch.y
---
nosuch = 5
---
function f() end
---
return syntax error
---
x = = 1
---
return 'a
---
KEYS = 5
---
redis.call('x')
---
string.foo = 5
---
redis.foo = 5
---
setmetatable(_G,{})
---
setmetatable(string,{})
---
rawset(string,'x',1)
---
rawset(_G,'x',1)
---
table.insert(string,1)
---
table.insert(_G,1)
---
return type(getmetatable(''))
---
getmetatable('').__index = nil
---
getmetatable('').__index.x = 1
---
return type(getmetatable(string))
---
return rawget(_G,'nosuch')
---
return type(rawget(_G,'redis'))
---
return redis.nosuch
---
return redis.call == nil
---
return loadstring(string.dump(function() return 5 end))()
---
return {loadstring('x = = 1')}
---
return loadstring('return 5')()
---
return load(function() return nil end)
---
local n=0 return load(function() n=n+1 if n==1 then return 'return 7' end end)()
---
return collectgarbage('count') > 0
---
return redis.sha1hex('')
---
return redis.sha1hex()
---
return redis.sha1hex('a','b')
---
return redis.sha1hex(12)
---
return redis.log(2,'hello')
---
return redis.log(2)
---
return redis.log('x','y')
---
return redis.log(7,'y')
---
return redis.setresp(3)
---
return redis.setresp(4)
---
return redis.setresp()
---
return redis.setresp('x')
---
return redis.set_repl(1)
---
return redis.set_repl()
---
return redis.set_repl(99)
---
return redis.replicate_commands()
---
math.randomseed(5) return math.random(100)
---
return math.random(0)
---
return math.random(5,1)
---
return {pcall(error,'x')}
---
return {pcall(redis.call,'nosuch')}
---
local ok,e=pcall(redis.call,'nosuch') return {type(e), e.err or 'none', e.source or '-', e.line or '-'}
---
local ok,e=pcall(function() error('x') end) return {type(e), tostring(e)}
---
local ok,e=pcall(function() local t=nil; t.x=1 end) return {type(e), tostring(e)}
---
local ok,e=pcall(error,{err='x'}) return {type(e), e}
---
return xpcall(function() error('a') end, function(e) return 'handled '..e end)
