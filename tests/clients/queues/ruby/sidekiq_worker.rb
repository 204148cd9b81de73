# Sidekiq: a worker in a process of its own, which waits by BRPOP over its queues; jobs that are scheduled, retried and
# lost, and a restart of the server.
# Usage: ruby sidekiq_worker.rb port, and with no port by the worker itself

require 'sidekiq'
require 'sidekiq/api'

# Sidekiq 6 calls redis-rb 4.8 as older ones want it.
Redis.silence_deprecations = true
Redis.sadd_returns_boolean = true

PORT = (ENV['REDIS_PORT'] ||= ARGV[0]).to_i
PATIENCE_SECONDS = 30
connection = { url: "redis://127.0.0.1:#{PORT}/0" }
Sidekiq.configure_client { |config| config.redis = connection }
Sidekiq.configure_server do |config|
  config.redis = connection
  config.options[:poll_interval_average] = 0.2
  config.death_handlers << ->(job, error) { Sidekiq.redis { |redis| redis.rpush('buried', "#{job['args']} #{error.message}") } }
end
Sidekiq.logger.level = Logger::FATAL

# Adds up, and says so in a list.
class Add
  include Sidekiq::Worker

  def perform(left, right)
    Sidekiq.redis { |redis| redis.rpush('sums', left + right) }
  end
end

# Asked for first, since its queue weighs the most.
class Urgent < Add
  sidekiq_options queue: 'urgent'
end

# Fails as often as it is told, then adds.
class Fails
  include Sidekiq::Worker
  sidekiq_options retry: 2

  def perform(times)
    tries = Sidekiq.redis { |redis| redis.incr("tries:#{times}") }
    raise ArgumentError, 'wrong by design' if tries <= times

    Sidekiq.redis { |redis| redis.rpush('sums', 100 + tries) }
  end
end

def show(what, *values)
  puts "#{what} #{values.inspect}"
end

def reach(what)
  ending = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE_SECONDS
  sleep 0.01 until (reached = yield) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ending
  show what, reached
end

def length(list)
  Sidekiq.redis { |redis| redis.llen(list) }
end

# What the jobs left, taken away; many at a time end in any order.
def taken(list)
  Sidekiq.redis { |redis| redis.multi { |all| all.lrange(list, 0, -1); all.del(list) } }[0].sort
end

def sums(what, count)
  reach("#{what}: done") { length('sums') == count }
  show what, taken('sums')
end

# By itself it waits for up to ten seconds and more.
def retry_soon
  reach('is to be retried') { Sidekiq::RetrySet.new.size == 1 }
  Sidekiq::RetrySet.new.each(&:add_to_queue)
end

def steps
  Add.perform_async(1, 2)
  sums 'add', 1
  20.times { |i| Add.perform_async(i, i) }
  Urgent.perform_async(500, 1)
  sums 'many', 21
  Add.perform_bulk([[1, 1], [2, 2], [3, 3]])
  sums 'bulk', 3
  Add.perform_in(0.5, 3, 4)
  show 'scheduled', Sidekiq::ScheduledSet.new.size
  sums 'later', 1
  Fails.perform_async(2)
  2.times { retry_soon }
  sums 'retried', 1
  Fails.perform_async(9)
  2.times { retry_soon }
  reach('dead') { length('buried') == 1 }
  show 'dead', taken('buried'), Sidekiq::DeadSet.new.map { |job| [job.klass, job.args] }, Sidekiq::RetrySet.new.size
end

def main
  $stdout.sync = true
  Add.perform_async(10, 20)
  show 'before anybody works', Sidekiq::Queue.new.size, Sidekiq::ProcessSet.new.size
  worker = spawn('sidekiq', '-r', File.expand_path(__FILE__), '-c', '4', '-q', 'urgent,3', '-q', 'default,1',
                 '-e', 'production', in: File::NULL, out: File::NULL)
  begin
    sums 'then', 1
    reach('somebody works') { Sidekiq::ProcessSet.new.size == 1 }
    show 'who', Sidekiq::ProcessSet.new.map { |process| [process['concurrency'], process['queues'].sort] }
    steps
    puts 'restart'
    $stdin.gets
    Add.perform_async(20, 22)
    sums 'after the restart', 1
  ensure
    Process.kill('TERM', worker)
    Process.wait(worker)
  end
  show 'worker ended', $?.exitstatus, Sidekiq::ProcessSet.new.size
  show 'counts', Sidekiq::Stats.new.then { |stats| [stats.enqueued, stats.dead_size, stats.queues.sort] }
end

main if $PROGRAM_NAME == __FILE__
