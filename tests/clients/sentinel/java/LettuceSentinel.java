import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;

/** Counts on whichever server the Sentinels call the primary. Usage: LettuceSentinel name port… */
public final class LettuceSentinel {
  public static void main(String[] arguments) throws InterruptedException {
    RedisURI.Builder address = RedisURI.builder().withSentinelMasterId(arguments[0]);
    for (int i = 1; i < arguments.length; ++i) address.withSentinel("127.0.0.1", Integer.parseInt(arguments[i]));
    RedisClient client = RedisClient.create(address.withTimeout(Duration.ofSeconds(1)).build());
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      while (true) {
        try {
          System.out.println("counted " + connection.sync().incr("lettuce"));
        } catch (RedisException error) {
          System.out.println("failed " + error.getMessage());
          Thread.sleep(100);
        }
        Thread.sleep(10);
      }
    }
  }
}
