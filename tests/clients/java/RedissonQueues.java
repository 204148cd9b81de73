import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingDeque;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBoundedBlockingQueue;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RPriorityBlockingQueue;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.api.queue.DequeMoveArgs;
import org.redisson.config.Config;

/** What of Redisson waits: queues (blocking pops), locks and limiters others wait for. Usage: RedissonQueues port. */
public final class RedissonQueues {
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();

  private static <T> Future<T> waiting(Callable<T> call) throws Exception {
    Future<T> future = THREADS.submit(call);
    Thread.sleep(100);
    return future;
  }

  private static void queues(RedissonClient client) throws Exception {
    RBlockingQueue<String> queue = client.getBlockingQueue("queue");
    Future<String> taken = waiting(queue::take);
    Steps.show("take", taken.isDone(), queue.offer("a"), taken.get(), queue.size());
    Steps.show("poll in vain", queue.poll(200, TimeUnit.MILLISECONDS));
    Future<String> any = waiting(() -> queue.pollFromAny(60, TimeUnit.SECONDS, "queue 2", "queue 3"));
    Steps.show("from any", client.getQueue("queue 3").offer("b"), any.get());
    Future<String> moved = waiting(() -> queue.pollLastAndOfferFirstTo("other", 60, TimeUnit.SECONDS));
    Steps.show("moved", queue.offer("c"), moved.get(), client.getQueue("other").readAll());
    List<Future<String>> all = new ArrayList<>();
    for (int i = 0; i < 8; ++i) all.add(waiting(queue::take));
    for (int i = 0; i < 8; ++i) queue.put("job " + i);
    List<String> got = new ArrayList<>();
    for (Future<String> each : all) got.add(each.get());
    Steps.show("who waits longest is served first", got);
    RBlockingDeque<String> deque = client.getBlockingDeque("deque");
    Future<String> last = waiting(deque::takeLast);
    deque.putFirst("d");
    Steps.show("deque", last.get(), deque.pollFirst(100, TimeUnit.MILLISECONDS));
    Future<String> turned = waiting(
        () -> deque.move(Duration.ofSeconds(60), DequeMoveArgs.pollFirst().addLastTo("other")));
    Steps.show("turned", client.getDeque("deque").offer("e"), turned.get(), client.getQueue("other").readAll());
    Future<Map<String, List<String>>> several = waiting(
        () -> deque.pollFirstFromAny(Duration.ofSeconds(60), 2, "deque 2"));
    Steps.show("several", client.getDeque("deque 2").offer("f"), several.get());
    RBoundedBlockingQueue<Integer> bounded = client.getBoundedBlockingQueue("bounded");
    Steps.show("bounded", bounded.trySetCapacity(1), bounded.offer(1), bounded.offer(2, 100, TimeUnit.MILLISECONDS));
    Future<Boolean> offered = waiting(() -> bounded.offer(3, 60, TimeUnit.SECONDS));
    Steps.show("bounded", bounded.take(), offered.get(), bounded.take());
  }

  private static void ordered(RedissonClient client) throws Exception {
    RDelayedQueue<String> delayed = client.getDelayedQueue(client.getBlockingQueue("due"));
    delayed.offer("later", 300, TimeUnit.MILLISECONDS);
    Steps.show("delayed", client.getBlockingQueue("due").poll(60, TimeUnit.SECONDS), delayed.size());
    delayed.destroy();
    RPriorityBlockingQueue<Integer> ranked = client.getPriorityBlockingQueue("ranked");
    for (int i : new int[] {5, 1, 3}) ranked.add(i);
    Steps.show("ranked", ranked.take(), ranked.take(), ranked.poll(1, TimeUnit.SECONDS), ranked.poll());
    RScoredSortedSet<String> scored = client.getScoredSortedSet("scored");
    Future<String> first = waiting(() -> scored.pollFirst(60, TimeUnit.SECONDS));
    Steps.show("scored", scored.add(2, "two"), first.get());
    Future<String> taken = waiting(scored::takeLast);
    Steps.show("scored", scored.add(3, "three"), taken.get(), scored.pollFirst(100, TimeUnit.MILLISECONDS));
    Future<String> any = waiting(() -> scored.pollFirstFromAny(60, TimeUnit.SECONDS, "scored 2"));
    client.getScoredSortedSet("scored 2").add(1, "one");
    Steps.show("scored", any.get());
    Future<Map<String, Map<String, Double>>> entries = waiting(
        () -> scored.pollFirstEntriesFromAny(Duration.ofSeconds(60), 2, "scored 2"));
    Steps.show("scored", scored.add(4, "four"), entries.get());
  }

  private static volatile int together;
  private static volatile int most;

  private static void locks(RedissonClient client) throws Exception {
    for (RLock lock : new RLock[] {client.getLock("lock"), client.getFairLock("fair"), client.getSpinLock("spin")}) {
      most = 0;
      List<Future<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 6; ++i) {
        all.add(THREADS.submit(() -> {
          for (int round = 0; round < 3; ++round) {
            lock.lock();
            most = Math.max(most, ++together);
            Thread.sleep(2);
            --together;
            lock.unlock();
          }
          return true;
        }));
      }
      for (Future<Boolean> each : all) each.get();
      Steps.show(lock.getName(), most, lock.isLocked());
    }
    RReadWriteLock both = client.getReadWriteLock("both");
    both.readLock().lock();
    Steps.show("reads", waiting(() -> both.readLock().tryLock()).get(), waiting(() -> both.writeLock().tryLock()).get());
    RCountDownLatch latch = client.getCountDownLatch("latch");
    Steps.show("latch", latch.trySetCount(2));
    Future<Boolean> opened = waiting(() -> latch.await(60, TimeUnit.SECONDS));
    latch.countDown();
    latch.countDown();
    Steps.show("latch", opened.get(), latch.getCount());
    RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore("permits");
    permits.trySetPermits(1);
    String permit = permits.acquire(60, TimeUnit.SECONDS);
    Future<String> next = waiting(() -> permits.tryAcquire(60, 60, TimeUnit.SECONDS));
    permits.release(permit);
    Steps.show("permits", next.get() != null, permits.availablePermits());
    RRateLimiter limiter = client.getRateLimiter("limiter");
    limiter.trySetRate(RateType.OVERALL, 2, 500, RateIntervalUnit.MILLISECONDS);
    long start = System.nanoTime();
    for (int i = 0; i < 5; ++i) limiter.acquire();
    Steps.show("limiter", System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(900));
  }

  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://127.0.0.1:" + arguments[0]);
    RedissonClient client = Redisson.create(config);
    queues(client);
    ordered(client);
    locks(client);
    Future<String> across = waiting(() -> client.<String>getBlockingQueue("across").take());
    Steps.restartServer();
    Steps.show("after the restart", client.getBlockingQueue("across").offer("still there"), across.get());
    client.shutdown();
    System.exit(0);
  }
}
