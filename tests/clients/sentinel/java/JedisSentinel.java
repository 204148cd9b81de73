import java.util.Set;
import java.util.stream.Collectors;
import java.util.Arrays;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisSentinelPool;
import redis.clients.jedis.exceptions.JedisException;

/** Counts on whichever server the Sentinels call the primary. Usage: JedisSentinel name port… */
public final class JedisSentinel {
  public static void main(String[] arguments) throws InterruptedException {
    Set<String> sentinels =
        Arrays.stream(arguments).skip(1).map(port -> "127.0.0.1:" + port).collect(Collectors.toSet());
    try (JedisSentinelPool pool = new JedisSentinelPool(arguments[0], sentinels)) {
      while (true) {
        try (Jedis client = pool.getResource()) {
          System.out.println("counted " + client.incr("jedis"));
        } catch (JedisException error) {
          System.out.println("failed " + error.getMessage());
          Thread.sleep(100);
        }
        Thread.sleep(10);
      }
    }
  }
}
