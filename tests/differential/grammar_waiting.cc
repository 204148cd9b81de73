// Commands that wait. The keys of <await> come and go, so that there is often something to wait
// for.
#include "tests/differential/grammar.h"

namespace tally::differential {

std::span<const Line> WaitingLines() {
  static constexpr Line kLines[] = {
      {"( BLPOP | BRPOP ) {<list>} <timeout>", Rule::kExact, 40},
      {"( BLPOP | BRPOP ) {<await>} <timeout>", Rule::kExact, 10},
      {"BLMOVE <list> <list> ( LEFT | RIGHT ) ( LEFT | RIGHT | <junk> ) <timeout>", Rule::kExact,
       40},
      {"BRPOPLPUSH <list> <list> <timeout>", Rule::kExact, 20},
      {"BLMPOP <timeout> <keys:list> ( LEFT | RIGHT | <junk> ) [ COUNT <count> ]", Rule::kExact,
       40},
      {"( BZPOPMIN | BZPOPMAX ) {<zset>} <timeout>", Rule::kExact, 40},
      {"BZMPOP <timeout> <keys:zset> ( MIN | MAX | <junk> ) [ COUNT <count> ]", Rule::kExact, 40},
      {"( BLPOP | BZPOPMIN | BRPOPLPUSH ) <any>", Rule::kExact, 4},
      {"BLMOVE <list> <list> LEFT <timeout>", Rule::kExact, 4},
      {"( LPUSH | RPUSH ) <await> {<element>}", Rule::kExact, 150},
      {"ZADD <await> {<score> <member>}", Rule::kExact, 100},
      {"SET <await> <value>", Rule::kExact, 10},
      {"LMOVE <list> <await> ( LEFT | RIGHT ) ( LEFT | RIGHT )", Rule::kExact, 50},
      {"( RENAME | RENAMENX | COPY ) <any> <await>", Rule::kExact, 50},
      {"MOVE <await> <db>", Rule::kExact, 30},
      {"( SORT <sort> STORE <await> | ZUNIONSTORE <await> <keys:zset> )", Rule::kExact, 30},
      {"ZRANGESTORE <await> <zset> 0 3", Rule::kExact, 20},
      {"( LPOP | RPOP ) <await>", Rule::kExact, 50},
      {"( ZPOPMIN | ZPOPMAX ) <await>", Rule::kExact, 50},
      {"DEL {<await>}", Rule::kExact, 150},
      {"CLIENT UNBLOCK <client> [ ( TIMEOUT | ERROR | <junk> ) ]", Rule::kExact, 15},
  };
  return kLines;
}

std::span<const Line> EndlessLines() {
  static constexpr Line kLines[] = {
      {"( BLPOP | BRPOP ) {<await>} 0"},
      {"BLMOVE <await> ( <list> | <await> ) ( LEFT | RIGHT ) ( LEFT | RIGHT ) 0"},
      {"BLMOVE <await> <any> LEFT RIGHT 0"},
      {"BRPOPLPUSH <await> <list> 0"},
      {"BLMPOP 0 2 <await> <await> ( LEFT | RIGHT ) [ COUNT <positive> ]"},
      {"( BZPOPMIN | BZPOPMAX ) {<await>} 0"},
      {"BZMPOP 0 2 <await> <await> ( MIN | MAX ) [ COUNT <positive> ]"},
  };
  return kLines;
}

}  // namespace tally::differential
