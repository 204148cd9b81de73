import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisProtocol;

/** A limit of 1 asked three times, the reply read by position. Usage: LimitSteps port client protocol. */
public final class LimitSteps {
  private enum Take implements ProtocolKeyword {
    LIMIT_TAKE;

    @Override
    public byte[] getBytes() {
      return "LIMIT.TAKE".getBytes(StandardCharsets.UTF_8);
    }
  }

  private static void show(Supplier<Object> take) {
    int through = 0;
    for (int i = 0; i < 3; ++i) {
      List<?> reply = (List<?>) take.get();
      if ((Long) reply.get(0) == 1) ++through;
    }
    System.out.println("let through: " + through);
  }

  private static void jedis(int port, String protocol) {
    try (Jedis client = new Jedis(new HostAndPort("127.0.0.1", port),
        DefaultJedisClientConfig.builder().protocol(RedisProtocol.valueOf(protocol)).build())) {
      show(() -> client.sendCommand(Take.LIMIT_TAKE::getBytes, "door", "FIXED", "1", "1h"));
    }
  }

  private static void lettuce(int port, String protocol) {
    RedisClient redis = RedisClient.create(RedisURI.create("127.0.0.1", port));
    redis.setOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.valueOf(protocol)).build());
    try (StatefulRedisConnection<String, String> connection = redis.connect()) {
      show(() -> connection.sync().dispatch(Take.LIMIT_TAKE, new ArrayOutput<>(StringCodec.UTF8),
          new CommandArgs<>(StringCodec.UTF8).addKey("door").add("FIXED").add(1).add("1h")));
    }
  }

  public static void main(String[] arguments) {
    int port = Integer.parseInt(arguments[0]);
    if (arguments[1].equals("jedis")) {
      jedis(port, arguments[2]);
    } else {
      lettuce(port, arguments[2]);
    }
    System.exit(0);
  }
}
