import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.logging.LogManager;

/** As load.py, with Lettuce. */
public final class Load {
  private enum Take implements ProtocolKeyword {
    TAKE;

    @Override
    public byte[] getBytes() {
      return "LIMIT.TAKE".getBytes(StandardCharsets.US_ASCII);
    }
  }

  private static final String[] KINDS = {"fixed", "sliding", "policy"};

  private final Random dice;
  private final long limit;
  private final int keys;
  private final String prefix;
  private final Map<String, Integer> taken = new TreeMap<>();
  private final Map<String, Integer> unknown = new TreeMap<>();
  private int calls;

  private Load(String[] arguments) {
    dice = new Random(Long.parseLong(arguments[1]));
    limit = Long.parseLong(arguments[2]);
    keys = Integer.parseInt(arguments[3]);
    prefix = arguments[4];
  }

  /** Asks once; false if there was no reply. */
  private boolean call(StatefulRedisClusterConnection<String, String> connection) throws InterruptedException {
    int number = dice.nextInt(keys);
    String kind = KINDS[dice.nextInt(KINDS.length)];
    List<String> names = new ArrayList<>(List.of(prefix + kind + ":{" + number + "}"));
    CommandArgs<String, String> words = new CommandArgs<>(StringCodec.UTF8).addKey(names.get(0));
    if (kind.equals("policy")) {
      words.add("POLICY").add("hundred");
    } else {
      words.add(kind.toUpperCase()).add(limit).add("10h");
    }
    if (dice.nextDouble() < 0.2) {
      names.add(prefix + "both:{" + number + "}");
      words.add("AND").addKey(names.get(1)).add("FIXED").add(100 * limit).add("10h");
    }
    ++calls;
    try {
      List<Object> reply = connection.sync().dispatch(Take.TAKE, new NestedMultiOutput<>(StringCodec.UTF8), words);
      if (reply.get(0).equals(1L)) names.forEach(name -> taken.merge(name, 1, Integer::sum));
      return true;
    } catch (RedisCommandExecutionException refused) {
      Thread.sleep(10);
      return true;
    } catch (RuntimeException failed) {
      names.forEach(name -> unknown.merge(name, 1, Integer::sum));
      Thread.sleep(10);
      return false;
    }
  }

  private static String json(Map<String, Integer> counts) {
    List<String> members = new ArrayList<>();
    counts.forEach((name, count) -> members.add("\"" + name + "\": " + count));
    return "{" + String.join(", ", members) + "}";
  }

  public static void main(String[] arguments) throws Exception {
    LogManager.getLogManager().reset();
    Load load = new Load(arguments);
    RedisClusterClient client = RedisClusterClient.create(
        RedisURI.builder().withHost("127.0.0.1").withPort(Integer.parseInt(arguments[0]))
            .withTimeout(Duration.ofSeconds(5)).build());
    // Without reconnecting nothing is sent again: what has no reply may have been done.
    client.setOptions(ClusterClientOptions.builder().autoReconnect(false)
        .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
            .enablePeriodicRefresh(Duration.ofSeconds(1)).enableAllAdaptiveRefreshTriggers().build())
        .build());
    StatefulRedisClusterConnection<String, String> connection = client.connect();
    System.out.println("ready");
    while (System.in.available() == 0) {
      if (load.call(connection)) continue;
      connection.closeAsync();
      connection = client.connect();
    }
    System.out.println("{\"taken\": " + json(load.taken) + ", \"unknown\": " + json(load.unknown)
        + ", \"calls\": " + load.calls + "}");
    System.exit(0);
  }
}
