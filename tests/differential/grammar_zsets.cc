// The sorted sets' lines. Ranges by name are asked of sets whose scores are all equal: elsewhere
// their meaning is open.
#include "tests/differential/grammar.h"

namespace tally::differential {

std::span<const Line> ZSetLines() {
  static constexpr Line kLines[] = {
      {"ZADD <zset> {<score> <member>}", Rule::kExact, 400},
      {"ZADD <zset> [ ( NX | XX ) ] [ ( GT | LT ) ] [ CH ] {<score> <member>}", Rule::kExact, 200},
      {"ZADD <zset> [ ( NX | XX | GT | LT | CH ) ] INCR <score> <member>"},
      {"ZADD <zset> [ CH ] [ GT ] [ LT ] [ NX ] [ XX ] {<score> <member>}", Rule::kExact, 50},
      {"ZINCRBY <zset> <score> <member>"},
      {"ZREM <zset> {<member>}"},
      {"ZCARD <zset>"},
      {"ZSCORE <zset> <member>"},
      {"ZMSCORE <zset> {<member>}"},
      {"ZCOUNT <zset> <bound> <bound>"},
      {"ZRANK <zset> <member>"},
      {"ZREVRANK <zset> <member>"},
      {"ZRANGE <zset> <index> <index> [ REV ] [ WITHSCORES ]"},
      {"ZRANGE <zset> <bound> <bound> BYSCORE [ REV ] [ LIMIT <index> <index> ] [ WITHSCORES ]"},
      {"ZRANGE <lex> <lexbound> <lexbound> BYLEX [ REV ] [ LIMIT <index> <index> ]"},
      {"ZRANGE <zset> <index> <index> [ LIMIT 0 1 ] [ BYLEX ] [ WITHSCORES ] [ <junk> ]",
       Rule::kExact, 20},
      {"ZRANGESTORE <zset> <zset> <index> <index> [ REV ]", Rule::kExact, 50},
      {"ZRANGESTORE <zset> <zset> <bound> <bound> BYSCORE [ REV ] [ LIMIT <index> <index> ]",
       Rule::kExact, 50},
      {"ZRANGESTORE <lex> <lex> <lexbound> <lexbound> BYLEX [ REV ] [ LIMIT <index> <index> ]",
       Rule::kExact, 50},
      {"ZREVRANGE <zset> <index> <index> [ WITHSCORES ]"},
      {"( ZRANGEBYSCORE | ZREVRANGEBYSCORE ) <zset> <bound> <bound> [ WITHSCORES ] "
       "[ LIMIT <index> <index> ]",
       Rule::kExact, 200},
      {"( ZRANGEBYLEX | ZREVRANGEBYLEX ) <lex> <lexbound> <lexbound> [ LIMIT <index> <index> ]",
       Rule::kExact, 200},
      {"ZLEXCOUNT <lex> <lexbound> <lexbound>"},
      {"ZADD <lex> {0 <member>}", Rule::kExact, 200},
      {"ZREM <lex> {<member>}", Rule::kExact, 50},
      {"ZREMRANGEBYLEX <lex> <lexbound> <lexbound>", Rule::kExact, 40},
      {"ZREMRANGEBYSCORE <zset> <bound> <bound>", Rule::kExact, 40},
      {"ZREMRANGEBYRANK <zset> <index> <index>", Rule::kExact, 40},
      {"ZPOPMIN <zset> [ <count> ]"},
      {"ZPOPMAX <zset> [ <count> ]"},
      {"ZMPOP <keys:zset> ( MIN | MAX | <junk> ) [ COUNT <count> ]"},
      {"ZRANGE <zset> 0 -1 ; ZRANDMEMBER $", Rule::kSample},
      {"ZRANGE <zset> 0 -1 ; ZRANDMEMBER $ <positive>", Rule::kDistinct},
      {"ZRANGE <zset> 0 -1 ; ZRANDMEMBER $ <negative>", Rule::kSample},
      {"ZRANGE <zset> 0 -1 WITHSCORES ; ZRANDMEMBER $ <positive> WITHSCORES", Rule::kDistinctPairs},
      {"ZRANGE <zset> 0 -1 WITHSCORES ; ZRANDMEMBER $ <negative> WITHSCORES", Rule::kSamplePairs},
      {"ZRANDMEMBER <zset> ( <junk> | 0 ) [ <junk> ]", Rule::kExact, 20},
      {"ZSCAN <zset> 0 COUNT 100000 [ MATCH <pattern> ]", Rule::kScanPairs},
      {"ZSCAN <zset> <cursor> [ MATCH <pattern> ] [ COUNT <junk> ] [ <junk> ]", Rule::kExact, 20},
      {"( ZUNION | ZINTER ) <keys:sorted> [ WEIGHTS {<weight>} ] [ AGGREGATE ( SUM | MIN | MAX ) ] "
       "[ WITHSCORES ]"},
      {"( ZUNION | ZINTER ) 2 <sorted> <sorted> [ WEIGHTS <weight> <weight> ] "
       "[ AGGREGATE ( SUM | MIN | MAX ) ] [ WITHSCORES ]",
       Rule::kExact, 200},
      {"ZDIFF <keys:sorted> [ WITHSCORES ]"},
      {"( ZUNIONSTORE | ZINTERSTORE ) <zset> 2 <sorted> <sorted> [ WEIGHTS <weight> <weight> ] "
       "[ AGGREGATE ( SUM | MIN | MAX | <junk> ) ]",
       Rule::kExact, 150},
      {"( ZUNIONSTORE | ZINTERSTORE | ZDIFFSTORE ) <zset> <keys:sorted>", Rule::kExact, 100},
      {"ZINTERCARD <keys:sorted> [ LIMIT <count> ]"},
  };
  return kLines;
}

}  // namespace tally::differential
