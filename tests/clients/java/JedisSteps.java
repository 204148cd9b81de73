import static redis.clients.jedis.Protocol.Command.INCR;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;

/** Usage: JedisSteps port protocol. */
public final class JedisSteps {
  private static int port;
  private static RedisProtocol protocol;

  private static Jedis connect(int database) {
    return new Jedis(new HostAndPort("127.0.0.1", port),
        DefaultJedisClientConfig.builder().protocol(protocol).database(database).build());
  }

  private static void values(Jedis client) {
    Steps.show("strings", client.ping(), client.echo("hello"), client.set("s", "value"), client.get("s"));
    Steps.show("strings", client.get("none"), client.set("s", "x", SetParams.setParams().nx()), client.append("s", "!"));
    byte[] octets = {0, 13, 10, -1, 36};
    Steps.show("strings", client.set(octets, octets), client.get(octets));
    Steps.show("strings", client.mset("a", "1", "b", "2"), client.mget("a", "none", "b"));
    Steps.show("counters", client.incr("n"), client.incrBy("n", 41), client.incrByFloat("f", 1.5));
    Steps.show("counters", Steps.failure(() -> client.incr("s")), Steps.failure(() -> client.sendCommand(INCR)));
    Steps.show("expiry", client.setex("e", 100, "1"), Steps.near(client.ttl("e"), 100), client.persist("e"));
    Steps.show("expiry", client.ttl("e"), client.ttl("none"), client.expire("none", 100));
    Steps.show("lists", client.rpush("l", "1", "2", "three"), client.lpush("l", "0"), client.lrange("l", 0, -1));
    Steps.show("lists", client.lpop("l"), client.rpop("l"), client.lindex("l", 9), Steps.failure(() -> client.llen("s")));
    Steps.show("keys", client.exists("l", "s", "none"), client.type("l"), client.type("none"));
    Steps.show("keys", new TreeSet<>(client.scan("0", new ScanParams().match("[ab]").count(1000)).getResult()));
    Steps.show("hashes", client.hset("h", "f", "1"), client.hincrBy("h", "f", 2), client.hgetAll("h"));
    Steps.show("zsets", client.zadd("z", 1.5, "a"), client.zincrby("z", 2, "a"), client.zrangeWithScores("z", 0, -1));
    Steps.show("scripts", client.eval("return {KEYS[1], ARGV[1], redis.call('get', 'n')}", 1, "k", "v"));
    Steps.show("scripts", Steps.failure(() -> client.evalsha("0123456789012345678901234567890123456789")));
  }

  public static void main(String[] arguments) {
    port = Integer.parseInt(arguments[0]);
    protocol = RedisProtocol.valueOf("RESP" + arguments[1]);
    try (Jedis client = connect(0)) {
      values(client);
      Pipeline pipeline = client.pipelined();
      List<Response<Long>> replies = new ArrayList<>();
      for (int i = 0; i < 100; ++i) replies.add(pipeline.incr("p"));
      pipeline.sync();
      Steps.show("pipeline", replies.get(0).get(), replies.get(99).get());
      try (Jedis other = connect(3)) {
        Steps.show("databases", other.set("only in 3", "x"), client.get("only in 3"), other.dbSize());
      }
      Transaction transaction = client.multi();
      transaction.incr("t");
      transaction.rpush("tl", "x");
      transaction.get("none");
      Steps.show("transaction", transaction.exec());
    }
  }
}
