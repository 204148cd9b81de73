#include "tests/differential/grammar.h"

namespace tally::differential {

std::span<const Line> GenericLines() {
  static constexpr Line kLines[] = {
      {"DEL {<any>}", Rule::kExact, 60},
      {"UNLINK {<any>}", Rule::kExact, 20},
      {"EXISTS {<any>}"},
      {"TYPE <any>"},
      {"TOUCH {<any>}"},
      {"RENAME <any> <any>", Rule::kExact, 50},
      {"RENAMENX <any> <any>", Rule::kExact, 50},
      {"COPY <any> <any> [ DB <db> ] [ REPLACE ]"},
      {"COPY <any> <any> REPLACE [ DB <db> ]"},
      {"MOVE <any> <db>", Rule::kExact, 40},
      {"RANDOMKEY", Rule::kKind, 20},
      {"KEYS <pattern>", Rule::kAnyOrder, 30},
      {"SCAN 0 COUNT 100000 [ MATCH <pattern> ] [ TYPE <type> ]", Rule::kScan, 30},
      {"SCAN 0 MATCH <pattern> COUNT 100000", Rule::kScan, 30},
      {"SCAN <cursor> [ COUNT <junk> ] [ MATCH ] [ <junk> ]", Rule::kExact, 20},
      {"DBSIZE", Rule::kExact, 50},
      {"EXPIRE <any> <seconds> [ ( NX | XX | GT | LT ) ] [ ( NX | XX | GT | LT ) ]"},
      {"PEXPIRE <any> <ms> [ ( NX | XX | GT | LT ) ]"},
      {"EXPIREAT <any> <unix> [ ( NX | XX | GT | LT ) ]"},
      {"PEXPIREAT <any> <unixms> [ ( NX | XX | GT | LT ) ]"},
      {"TTL <any>", Rule::kSeconds},
      {"PTTL <any>", Rule::kMillis},
      {"EXPIRETIME <any>", Rule::kSeconds},
      {"PEXPIRETIME <any>", Rule::kMillis},
      {"PERSIST <any>"},
      {"OBJECT ENCODING <any>", Rule::kEncoding, 200},
      {"OBJECT REFCOUNT <any>", Rule::kInteger, 20},
      {"OBJECT IDLETIME <any>", Rule::kInteger, 20},
      {"OBJECT FREQ <any>", Rule::kExact, 20},
      {"OBJECT HELP", Rule::kExact, 2},
      {"FLUSHDB [ ( ASYNC | SYNC ) ]", Rule::kExact, 2},
      {"FLUSHALL [ ( ASYNC | SYNC | <junk> ) ]", Rule::kExact, 1},
      // After it those who track keys here are told that all have changed.
      // In which order it wakes who waits is of chance in redis-server.
      {"SWAPDB <db> <db>", Rule::kExact, 5, kPlain},
  };
  return kLines;
}

std::span<const Line> StringLines() {
  static constexpr Line kLines[] = {
      {"GET <string>"},
      {"SET <string> <value>", Rule::kExact, 200},
      {"SET <string> <value> [ ( NX | XX ) ] [ GET ] [ <expiry> ]"},
      {"SET <string> <value> [ <expiry> ] [ ( NX | XX | GET ) ] [ ( NX | XX | GET | KEEPTTL ) ]"},
      {"SET <string> <value> KEEPTTL [ GET ]"},
      {"SETEX <string> <seconds> <value>"},
      {"PSETEX <string> <ms> <value>"},
      {"SETNX <string> <value>"},
      {"GETSET <string> <value>"},
      {"GETDEL <string>"},
      {"GETEX <string> [ ( <expiry> | PERSIST ) ] [ ( PERSIST | <junk> ) ]"},
      {"MGET {<string>}"},
      {"MSET {<string> <value>}"},
      {"MSETNX {<string> <value>}"},
      {"APPEND <string> <value>"},
      {"STRLEN <string>"},
      {"GETRANGE <string> <index> <index>"},
      {"SUBSTR <string> <index> <index>", Rule::kExact, 20},
      {"SETRANGE <string> <offset> <value>"},
      {"INCR <string>"},
      {"DECR <string>"},
      {"INCRBY <string> <int>"},
      {"DECRBY <string> <int>"},
      {"INCRBYFLOAT <string> <float>"},
      {"SETBIT <string> <bitoffset> <bit>"},
      {"GETBIT <string> <bitoffset>"},
      {"BITCOUNT <string> [ <index> <index> [ ( BYTE | BIT ) ] ]"},
      {"BITPOS <string> <bit> [ <index> [ <index> [ ( BYTE | BIT ) ] ] ]"},
      {"BITOP ( AND | OR | XOR ) <string> {<string>}"},
      {"BITOP NOT <string> <string>"},
      {"BITOP ( AND | NOT | <junk> ) <string> {<string>}", Rule::kExact, 20},
      {"BITFIELD <string> {GET <field> <fieldoffset>}"},
      // SAT is not asked of SET: Redis takes numbers near -2^63 for large ones there.
      {"BITFIELD <string> [ OVERFLOW ( WRAP | FAIL ) ] SET <field> <fieldoffset> <int> [ SET "
       "<field> "
       "<fieldoffset> <int> ] [ GET <field> <fieldoffset> ]"},
      {"BITFIELD <string> OVERFLOW ( WRAP | SAT | FAIL ) INCRBY <field> <fieldoffset> <int> "
       "[ OVERFLOW ( WRAP | SAT | FAIL | <junk> ) ] [ INCRBY <field> <fieldoffset> <int> ]"},
      {"BITFIELD_RO <string> {GET <field> <fieldoffset>} [ SET <field> <fieldoffset> <int> ]"},
      {"LCS <string> <string> [ LEN ] [ IDX ] [ MINMATCHLEN <small> ] [ WITHMATCHLEN ]",
       Rule::kExact, 50},
      {"PFADD <hll> {<member>}"},
      {"PFADD <hll>", Rule::kExact, 20},
      {"PFCOUNT {<hll>}"},
      {"PFMERGE <hll> {<hll>}", Rule::kExact, 60},
      {"GET <hll>", Rule::kExact, 50},
  };
  return kLines;
}

std::span<const Line> ListLines() {
  static constexpr Line kLines[] = {
      {"LPUSH <list> {<element>}"},
      {"RPUSH <list> {<element>}", Rule::kExact, 200},
      {"LPUSHX <list> {<element>}"},
      {"RPUSHX <list> {<element>}"},
      {"LPOP <list> [ <count> ]"},
      {"RPOP <list> [ <count> ]"},
      {"LLEN <list>"},
      {"LINDEX <list> <index>"},
      {"LRANGE <list> <index> <index>"},
      {"LRANGE <list> 0 -1"},
      {"LTRIM <list> <index> <index>", Rule::kExact, 40},
      {"LSET <list> <index> <element>"},
      {"LREM <list> <index> <element>"},
      {"LINSERT <list> ( BEFORE | AFTER | <junk> ) <element> <element>"},
      {"LPOS <list> <element> [ RANK ( <positive> | <negative> | 0 ) ] [ COUNT <count> ] [ MAXLEN "
       "<count> ]"},
      {"LPOS <list> <element> [ MAXLEN <count> ] [ COUNT <count> ] [ RANK ( <positive> | "
       "<negative> | 0 ) ]"},
      {"LMOVE <list> <list> ( LEFT | RIGHT ) ( LEFT | RIGHT | <junk> )"},
      {"RPOPLPUSH <list> <list>"},
      {"LMPOP <keys:list> ( LEFT | RIGHT | <junk> ) [ COUNT <count> ]"},
  };
  return kLines;
}

std::span<const Line> HashLines() {
  static constexpr Line kLines[] = {
      {"HSET <hash> {<member> <value>}", Rule::kExact, 300},
      {"HMSET <hash> {<member> <value>}"},
      {"HSETNX <hash> <member> <value>"},
      {"HGET <hash> <member>"},
      {"HMGET <hash> {<member>}"},
      {"HGETALL <hash>", Rule::kPairs},
      {"HDEL <hash> {<member>}"},
      {"HLEN <hash>"},
      {"HEXISTS <hash> <member>"},
      {"HKEYS <hash>", Rule::kAnyOrder},
      {"HVALS <hash>", Rule::kAnyOrder},
      {"HSTRLEN <hash> <member>"},
      {"HINCRBY <hash> <member> <int>"},
      {"HINCRBYFLOAT <hash> <member> <float>"},
      {"HSCAN <hash> 0 COUNT 100000 [ MATCH <pattern> ]", Rule::kScanPairs},
      {"HSCAN <hash> <cursor> [ MATCH <pattern> ] [ COUNT <junk> ] [ <junk> ]", Rule::kExact, 20},
      {"HKEYS <hash> ; HRANDFIELD $", Rule::kSample},
      {"HKEYS <hash> ; HRANDFIELD $ <positive>", Rule::kDistinct},
      {"HKEYS <hash> ; HRANDFIELD $ <negative>", Rule::kSample},
      {"HGETALL <hash> ; HRANDFIELD $ <positive> WITHVALUES", Rule::kDistinctPairs},
      {"HGETALL <hash> ; HRANDFIELD $ <negative> WITHVALUES", Rule::kSamplePairs},
      {"HRANDFIELD <hash> ( <junk> | 0 ) [ <junk> ]", Rule::kExact, 20},
  };
  return kLines;
}

std::span<const Line> SetLines() {
  static constexpr Line kLines[] = {
      {"SADD <set> {<member>}", Rule::kExact, 400},
      {"SADD <intset> {<small>}", Rule::kExact, 200},
      {"SREM <set> {<member>}"},
      {"SCARD <set>"},
      {"SISMEMBER <set> <member>"},
      {"SMISMEMBER <set> {<member>}"},
      {"SMEMBERS <set>", Rule::kAnyOrder},
      {"SMEMBERS <set> ; SPOP $ ; DEL $", Rule::kSample, 30},
      {"SMEMBERS <set> ; SPOP $ <positive> ; DEL $", Rule::kDistinct, 30},
      {"SPOP <set> <junk>", Rule::kExact, 20},
      {"SMEMBERS <set> ; SRANDMEMBER $", Rule::kSample},
      {"SMEMBERS <set> ; SRANDMEMBER $ <positive>", Rule::kDistinct},
      {"SMEMBERS <set> ; SRANDMEMBER $ <negative>", Rule::kSample},
      {"SRANDMEMBER <set> ( <junk> | 0 )", Rule::kExact, 20},
      {"SMOVE <set> <set> <member>"},
      {"SSCAN <set> 0 COUNT 100000 [ MATCH <pattern> ]", Rule::kScan},
      {"SSCAN <set> <cursor> [ MATCH <pattern> ] [ COUNT <junk> ] [ <junk> ]", Rule::kExact, 20},
      {"( SINTER | SUNION | SDIFF ) {<set>}", Rule::kAnyOrder, 300},
      {"( SINTERSTORE | SUNIONSTORE | SDIFFSTORE ) <set> {<set>}", Rule::kExact, 200},
      {"SINTERCARD <keys:set> [ LIMIT <count> ]"},
  };
  return kLines;
}

std::span<const Line> OtherLines() {
  static constexpr Line kLines[] = {
      {"MULTI", Rule::kExact, 300},
      {"EXEC", Rule::kExact, 20},
      {"DISCARD", Rule::kExact, 10},
      {"WATCH {<any>}", Rule::kExact, 80},
      {"UNWATCH", Rule::kExact, 10},
      {"SELECT <db>", Rule::kExact, 50},
      {"PING [ <value> ]", Rule::kExact, 20},
      {"ECHO <value>", Rule::kExact, 20},
      {"AUTH <value> [ <value> ]", Rule::kExact, 4},
      {"HELLO [ ( 2 | 3 | <int> ) ] [ ( AUTH nobody <value> | SETNAME <member> ) ]", Rule::kHello,
       20, kPlain | kWaiting | kTracking},
      {"RESET", Rule::kExact, 10, kPlain | kWaiting | kTracking},
      {"CLIENT ( SETNAME <member> | GETNAME | NO-EVICT ON | ID )", Rule::kExact, 10},
      {"CLIENT ( INFO | LIST [ ID <client> ] )", Rule::kKind, 5},
      {"CLIENT KILL ( ID 999999 | USER <user> | ADDR <member> | <junk> )", Rule::kExact, 5},
      {"CLIENT PAUSE ( 0 | 1 | <junk> ) [ ( WRITE | ALL | <junk> ) ]", Rule::kExact, 3, kPlain},
      {"CLIENT UNPAUSE", Rule::kExact, 3},
      {"CLIENT REPLY ( ON | <junk> )", Rule::kExact, 3},
      {"PUBLISH <channel> <value>", Rule::kExact, 50},
      {"SPUBLISH <channel> <value>", Rule::kExact, 50},
      {"PUBSUB ( NUMPAT | NUMSUB [ {<channel>} ] | CHANNELS [ <pattern> ] )", Rule::kAnyOrder, 20},
      {"PUBSUB ( SHARDNUMSUB [ {<channel>} ] | SHARDCHANNELS [ <pattern> ] )", Rule::kAnyOrder, 20},
      // No <junk>, in which is the name of a command that Redis lacks.
      {"( nosuch | abc | 1.5 | nan | withscores | nx | -inf ) [ {<value>} ]", Rule::kExact, 10},
  };
  return kLines;
}

}  // namespace tally::differential
