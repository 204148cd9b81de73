# The steps with redis-rb. Usage: ruby redis_rb.rb port step...

require 'redis'

PORT = ARGV.shift.to_i

def connect(database = 0)
  Redis.new(port: PORT, db: database)
end

# The error reply as a value to show.
def failure
  ['no error', yield]
rescue Redis::CommandError => error
  [error.class.name, error.message]
end

# A time to live of 100 s may have lost some of it on a slow machine.
def about_100(ttl)
  ttl > 50 && ttl <= 100
end

STEPS = {
  'strings' => lambda { |client, show|
    show.(client.ping, client.echo('hello'))
    show.(client.set('s', 'value'), client.get('s'), client.get('none'))
    show.(client.set('s', 'other', nx: true), client.append('s', '!'), client.strlen('s'))
    octets = "\0\r\n\xff$".b
    show.(client.set(octets, octets), client.get(octets).b)
    show.(client.mset('a', 1, 'b', 2), client.mget('a', 'none', 'b'))
  },
  'counters' => lambda { |client, show|
    show.(client.incr('n'), client.incrby('n', 41), client.decr('n'))
    show.(client.incrbyfloat('f', 1.5), failure { client.incr('s') })
    show.(failure { client.call('INCR') }, failure { client.call('NOSUCH', 'a') })
  },
  'expiry' => lambda { |client, show|
    show.(client.setex('e', 100, 1), about_100(client.ttl('e')), client.persist('e'))
    show.(client.ttl('e'), client.ttl('none'), client.expire('e', 100))
    show.(about_100(client.pttl('e') / 1000), client.expire('none', 100))
  },
  'lists' => lambda { |client, show|
    show.(client.rpush('l', [1, 2, 'three']), client.lpush('l', 0), client.llen('l'))
    show.(client.lrange('l', 0, -1), client.lindex('l', 2), client.lindex('l', 9))
    show.(client.lpop('l'), client.rpop('l'), client.lpop('none'))
    show.(failure { client.lpush('s', 1) })
  },
  'keys' => lambda { |client, show|
    show.(client.exists('l', 's', 'none'), client.type('l'), client.type('none'))
    show.(client.scan_each(match: '[ab]').to_a.sort, client.del('a', 'b', 'none'))
  },
  'pipeline' => lambda { |client, show|
    show.(client.pipelined { |batch| 100.times { batch.incr('p') } })
  },
  'databases' => lambda { |client, show|
    other = connect(3)
    show.(other.set('only in 3', 'x'), client.get('only in 3'), other.dbsize)
  },
  'transaction' => lambda { |client, show|
    show.(client.multi { |t| [t.incr('t'), t.rpush('tl', 'x'), t.get('none'), t.lrange('tl', 0, -1)] })
  },
  'limit' => lambda { |client, _|
    through = 3.times.count do
      allowed, = client.call('LIMIT.TAKE', 'door', 'FIXED', 1, '1h')
      allowed == 1  # 0 is true in Ruby
    end
    puts "let through: #{through}"
  }
}.freeze

client = connect
ARGV.each { |step| STEPS[step].(client, ->(*values) { puts "#{step} #{values.inspect}" }) }
