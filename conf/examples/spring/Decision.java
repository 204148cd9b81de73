package com.example;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerListOutput;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What tallyd answers to LIMIT.TAKE. The times are milliseconds. */
record Decision(boolean allowed, long limit, long remaining, long retryAfter, long resetAfter) {

  /** Throws DataAccessException if there is no answer within the time in application.properties. */
  static Decision take(LettuceConnectionFactory tallyd, String key, String limit, String period) {
    byte[][] words = Stream.of(key, "SLIDING", limit, period).map(String::getBytes).toArray(byte[][]::new);
    try (var connection = (LettuceConnection) tallyd.getConnection()) {
      var n = (List<?>) connection.execute("LIMIT.TAKE", new IntegerListOutput<>(ByteArrayCodec.INSTANCE), words);
      return new Decision((Long) n.get(0) == 1, (Long) n.get(1), (Long) n.get(2), (Long) n.get(3), (Long) n.get(4));
    }
  }
}
