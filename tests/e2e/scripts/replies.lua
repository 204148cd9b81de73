return 3.99
---
return -3.99
---
return {1,2,nil,4}
---
return {1,2,false,true,3.5,'x'}
---
return nil
---
return {ok='fine'}
---
return {ok='fi\r\nne'}
---
return {ok=5}
---
return {err=5}
---
return {double=3.5}
---
return {double='3.5'}
---
return {map={a=1}}
---
return {map={a=1},x=2}
---
return {set={a=true}}
---
return {big_number='123456789012345678901234567890'}
---
return {big_number='12\r\n3'}
---
return {verbatim_string={string='hello',format='txt'}}
---
return {verbatim_string={string='hello'}}
---
return {double=0/0}
---
return {double=1/0}
---
return 1/0
---
return 0/0
---
return 1e300
---
return -1e300
---
return function() end
---
return coroutine.create(function() end)
---
return {function() end, 1}
---
return cjson.null
---
return {cjson.null,2}
---
return
---
return 1,2
---
return {{},{{}}}
---
return true
---
return false
---
redis.setresp(3) return true
---
redis.setresp(3) return {true,false}
---
return redis.call('ping')
---
return redis.call('ping').ok
---
return redis.call('ping','x')
---
return redis.call('get','none')
---
return redis.call('get','none') == false
---
redis.setresp(3) return redis.call('get','none') == nil
---
redis.setresp(3) return redis.call('get','none')
---
redis.call('hset','h','f','v') return redis.call('hgetall','h')
---
redis.setresp(3) return redis.call('hgetall','h')
---
redis.setresp(3) return redis.call('hgetall','h').map.f
---
redis.call('sadd','s','1') redis.setresp(3) return redis.call('smembers','s')
---
redis.call('zadd','z','1.5','m') redis.setresp(3) return redis.call('zscore','z','m')
---
redis.setresp(3) return redis.call('zscore','z','m').double
---
return redis.call('zscore','z','m')
---
redis.setresp(3) return redis.call('zrange','z','0','-1','withscores')
---
redis.setresp(3) local r=redis.call('info','server') return type(r)..(r.verbatim_string and r.verbatim_string.format or '')
---
redis.call('set','n',1.5) return redis.call('get','n')
---
redis.call('set','n',0.1) return redis.call('get','n')
---
redis.call('set','n',1e15) return redis.call('get','n')
---
redis.call('set','n',1e17) return redis.call('get','n')
---
redis.call('set','n',1/0) return redis.call('get','n')
---
redis.call('set','n',-0.0) return redis.call('get','n')
---
redis.call('set','n',1700000000123) return redis.call('get','n')
---
redis.call('set','n',2^53) return redis.call('get','n')
---
redis.call('set','n',2^63) return redis.call('get','n')
---
redis.call('set','n',3.14159265358979) return redis.call('get','n')
---
return tostring(1700000000123)..' '..tostring(2^53)..' '..0.1
---
redis.call('select',3) redis.call('set','q',1) return 1
---
return {KEYS[1],KEYS[2],KEYS[3],ARGV[1],ARGV[2],#ARGV}
---
#!lua flags=no-writes
return redis.call('set','x','y')
---
#!lua
return 5
---
#!lua name=x
return 5
---
#!lua flags=foo
return 5
---
#!lua flags=allow-stale,no-writes
return redis.call('get','n')
---
#!python
return 5
---
#!lua
  return redis.call('nosuch')
---
return redis.call('eval','return 1','0')
---
return redis.call('subscribe','x')
---
return redis.call('script','load','x')
---
return redis.call('client','id')
---
return redis.call('config','get','port')
---
return redis.call('config','nosuch')
---
return redis.call('object')
---
return redis.call('client','nosuch')
---
-- differs: the command is unknown here
return redis.call('blpop','x','0')
---
return redis.call('auth','x')
---
-- differs: the command is unknown here
return redis.call('wait','0','0')
---
return redis.call('debug','sleep','0')
---
return redis.call('monitor')
---
return redis.call('quit')
---
return redis.call('reset')
---
return redis.call('hello','3')
---
return redis.call('swapdb','0','1')
---
return redis.call('flushall')
---
return redis.call('GET',12)
---
return redis.call('echo','a\r\nb')
