# Rack::Attack with its counters in Redis: throttles, allow2ban and fail2ban, through a restart.
# Usage: ruby rack_attack.rb port

require 'redis'
require 'active_support'
require 'active_support/cache'
require 'active_support/cache/redis_cache_store'
require 'rack'
require 'rack/attack'

$stdout.sync = true

# A period that the counters are in ends on a multiple of it: this one not while the program runs.
PERIOD = 1_000_000_000

Rack::Attack.cache.store = ActiveSupport::Cache::RedisCacheStore.new(
  redis: Redis.new(port: ARGV[0].to_i, reconnect_attempts: 3)
)
Rack::Attack.throttle('requests by ip', limit: 3, period: PERIOD, &:ip)
Rack::Attack.throttle('logins', limit: 1, period: PERIOD) { |request| request.params['user'] }
Rack::Attack.blocklist('scanners') do |request|
  Rack::Attack::Fail2Ban.filter(request.ip, maxretry: 2, findtime: PERIOD, bantime: PERIOD) do
    request.path.include?('passwd')
  end
end

APP = Rack::MockRequest.new(Rack::Attack.new(->(_) { [200, {}, ['served']] }))

def visit(path, ip)
  answer = APP.get(path, 'REMOTE_ADDR' => ip)
  puts [path, ip, answer.status, answer.body.strip].inspect
end

5.times { visit('/', '192.0.2.1') }
2.times { visit('/login?user=ann', '192.0.2.2') }
3.times { visit('/etc/passwd', '192.0.2.3') }
puts 'restart'
$stdin.gets
visit('/', '192.0.2.1')
visit('/login?user=ann', '192.0.2.4')
visit('/', '192.0.2.3')
puts Rack::Attack.cache.count('direct', PERIOD), Rack::Attack.cache.count('direct', PERIOD)
Rack::Attack::Fail2Ban.reset('192.0.2.3', findtime: PERIOD)
visit('/', '192.0.2.3')
