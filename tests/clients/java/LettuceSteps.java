import io.lettuce.core.ClientOptions;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.logging.LogManager;

/** The steps, and a token bucket in a script, through a restart. Usage: LettuceSteps port protocol. */
public final class LettuceSteps {
  private static final String BUCKET = String.join("\n",
      "local capacity, interval = tonumber(ARGV[1]), tonumber(ARGV[2])",
      "local time = redis.call('TIME')",
      "local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)",
      "local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')",
      "local tokens, at = tonumber(state[1]) or capacity, tonumber(state[2]) or now",
      "tokens = math.min(capacity, tokens + (now - at) / interval)",
      "local allowed = tokens >= 1",
      "if allowed then tokens = tokens - 1 end",
      "redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)",
      "redis.call('PEXPIRE', KEYS[1], capacity * interval)",
      "return {allowed and 1 or 0, math.floor(tokens)}");

  private static void values(RedisCommands<String, String> client) {
    Steps.show("strings", client.ping(), client.echo("hello"), client.set("s", "value"), client.get("s"));
    Steps.show("strings", client.get("none"), client.set("s", "x", SetArgs.Builder.nx()), client.append("s", "!"));
    Steps.show("strings", client.mget("s", "none"));
    Steps.show("counters", client.incr("n"), client.incrby("n", 41), client.incrbyfloat("f", 1.5));
    Steps.show("counters", Steps.failure(() -> client.incr("s")));
    Steps.show("expiry", client.setex("e", 100, "1"), Steps.near(client.ttl("e"), 100), client.persist("e"));
    Steps.show("expiry", client.ttl("e"), client.ttl("none"), client.expire("none", 100));
    Steps.show("lists", client.rpush("l", "1", "2", "three"), client.lpush("l", "0"), client.lrange("l", 0, -1));
    Steps.show("lists", client.lpop("l"), client.rpop("l"), client.lindex("l", 9), Steps.failure(() -> client.llen("s")));
    KeyScanCursor<String> found = client.scan(ScanArgs.Builder.matches("[ls]").limit(1000));
    Steps.show("keys", client.exists("l", "s", "none"), client.type("l"), new TreeSet<>(found.getKeys()));
    Steps.show("hashes", client.hset("h", "f", "1"), client.hincrby("h", "f", 2), client.hgetall("h"));
    Steps.show("zsets", client.zadd("z", 1.5, "a"), client.zincrby("z", 2, "a"), client.zrangeWithScores("z", 0, -1));
    Steps.show("transaction", client.multi(), client.incr("t"), client.get("none"), client.exec().stream().toList());
  }

  private static List<Object> take(RedisCommands<String, String> client, String sha, String key) {
    String[] keys = {key};
    try {
      return client.evalsha(sha, ScriptOutputType.MULTI, keys, "5", "3600000");
    } catch (RedisNoScriptException missing) {
      Steps.show("bucket", missing.getMessage());
      return client.eval(BUCKET, ScriptOutputType.MULTI, keys, "5", "3600000");
    }
  }

  private static void bucket(StatefulRedisConnection<String, String> connection) throws Exception {
    RedisCommands<String, String> client = connection.sync();
    String sha = client.scriptLoad(BUCKET);
    for (int i = 0; i < 7; ++i) Steps.show("bucket", take(client, sha, "bucket"));
    Steps.restartServer();
    for (int i = 0; i < 2; ++i) Steps.show("bucket", take(client, sha, "bucket"));
    RedisAsyncCommands<String, String> async = connection.async();
    List<Future<List<Object>>> replies = new ArrayList<>();
    for (int i = 0; i < 50; ++i) {
      replies.add(async.evalsha(sha, ScriptOutputType.MULTI, new String[] {"other"}, "5", "3600000"));
    }
    long allowed = 0;
    for (Future<List<Object>> reply : replies) allowed += (Long) reply.get().get(0);
    Steps.show("bucket", allowed);
  }

  public static void main(String[] arguments) throws Exception {
    LogManager.getLogManager().reset();  // It tells of the restart, with the time.
    RedisClient redis = RedisClient.create(RedisURI.create("127.0.0.1", Integer.parseInt(arguments[0])));
    redis.setOptions(ClientOptions.builder()
        .protocolVersion(ProtocolVersion.valueOf("RESP" + arguments[1])).build());
    try (StatefulRedisConnection<String, String> connection = redis.connect()) {
      values(connection.sync());
      bucket(connection);
    }
    System.exit(0);
  }
}
