import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RLock;
import org.redisson.api.RMapCache;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSemaphore;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's rate limiter, locks, semaphores and counters. Usage: RedissonSteps port. */
public final class RedissonSteps {
  private static void limit(RRateLimiter limiter, int times) {
    for (int i = 0; i < times; ++i) Steps.show("limiter", limiter.tryAcquire(), limiter.availablePermits());
  }

  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://127.0.0.1:" + arguments[0])
        .setConnectionMinimumIdleSize(2).setSubscriptionConnectionMinimumIdleSize(1);
    RedissonClient client = Redisson.create(config);
    RRateLimiter limiter = client.getRateLimiter("limiter");
    Steps.show("limiter", limiter.trySetRate(RateType.OVERALL, 3, 1, RateIntervalUnit.HOURS),
        limiter.trySetRate(RateType.OVERALL, 9, 1, RateIntervalUnit.HOURS));
    limit(limiter, 5);
    RAtomicLong counter = client.getAtomicLong("counter");
    Steps.show("counter", counter.incrementAndGet(), counter.addAndGet(41), counter.compareAndSet(42, 7), counter.get());
    RMapCache<String, Integer> map = client.getMapCache("map");
    Steps.show("map", map.put("a", 1, 1, TimeUnit.HOURS), map.putIfAbsent("a", 2), map.get("a"), map.size());
    Steps.restartServer();
    limit(limiter, 1);
    Steps.show("counter", counter.get());
    Steps.show("map", map.get("a"), map.fastRemove("a", "none"));
    RLock lock = client.getLock("lock");
    Steps.show("lock", lock.tryLock(1, 100, TimeUnit.SECONDS), lock.getHoldCount(), lock.isLocked());
    Thread other = new Thread(() -> Steps.show("other", lock.tryLock(), lock.isHeldByCurrentThread()));
    other.start();
    other.join();
    Thread waiting = new Thread(() -> {
      lock.lock();
      Steps.show("waited", lock.isHeldByCurrentThread());
      lock.unlock();
    });
    waiting.start();
    Thread.sleep(200);
    lock.unlock();
    waiting.join();
    RSemaphore semaphore = client.getSemaphore("semaphore");
    Steps.show("semaphore", semaphore.trySetPermits(2), semaphore.tryAcquire(), semaphore.tryAcquire(), semaphore.tryAcquire());
    client.shutdown();
    System.exit(0);
  }
}
