// What is asked of and set in the server, and users. What depends on the machine, the version or
// the instant is compared by kind.
#include "tests/differential/grammar.h"

namespace tally::differential {

std::span<const Line> ServerLines() {
  static constexpr Line kLines[] = {
      {"ACL SETUSER <user> {<aclrule>}", Rule::kExact, 20},
      {"ACL SETUSER <user> <junk>", Rule::kExact, 2},
      {"ACL DELUSER {<user>}", Rule::kExact, 4},
      {"ACL DRYRUN <user> <request>", Rule::kExact, 60},
      {"ACL ( USERS | WHOAMI | LOG RESET | LOAD | SAVE )", Rule::kExact, 10},
      {"ACL CAT [ ( keyspace | pubsub | nosuch ) ]", Rule::kKind, 2},
      {"ACL ( LIST | GETUSER <user> | HELP | GENPASS [ <int> ] )", Rule::kKind, 6},
      {"ASKING", Rule::kExact, 2},
      {"( READONLY | READWRITE )", Rule::kExact, 4},
      {"CLUSTER ( INFO | NODES | SLOTS )", Rule::kExact, 2},
      {"COMMAND ( COUNT | HELP )", Rule::kKind, 2},
      {"COMMAND ( LIST | DOCS get | INFO get nosuch | INFO )", Rule::kKind, 2},
      {"COMMAND GETKEYS <request>", Rule::kExact, 100},
      {"COMMAND GETKEYSANDFLAGS <request>", Rule::kExact, 100},
      {"CONFIG SET ( slowlog-max-len | latency-monitor-threshold ) ( 100 | "
       "<small> | abc | 1.5 )",
       Rule::kExact, 4},
      {"CONFIG SET nosuch 1 [ timeout 0 ]", Rule::kExact, 2},
      {"CONFIG GET ( timeout | hash-max-listpack-* | nosuch | appendonl? | [sz]*et-max* ) "
       "[ timeout ]",
       Rule::kKind, 10},
      {"CONFIG GET ( timeout | slowlog-max-len | zset-max-listpack-value )", Rule::kExact, 10},
      {"CONFIG ( RESETSTAT | REWRITE )", Rule::kExact, 2},
      {"CONFIG HELP", Rule::kKind, 1},
      {"DEBUG ( SLEEP 0 | SET-ACTIVE-EXPIRE 1 )", Rule::kExact, 2},
      {"FUNCTION LIST [ WITHCODE ] [ LIBRARYNAME <member> ]", Rule::kExact, 4},
      {"MODULE LIST", Rule::kExact, 2},
      {"( FUNCTION | MODULE | PUBSUB | LATENCY | MEMORY | SLOWLOG | CLIENT ) HELP", Rule::kKind, 2},
      {"INFO [ ( server | clients | memory | keyspace | everything | <junk> ) ]", Rule::kKind, 4},
      {"LASTSAVE", Rule::kInteger, 2},
      {"LATENCY ( RESET [ <member> ] | HISTORY command )", Rule::kKind, 4},
      {"LATENCY ( LATEST | DOCTOR | HISTOGRAM [ get ] )", Rule::kKind, 4},
      {"MEMORY USAGE <any> [ SAMPLES <count> ]", Rule::kKind, 20},
      {"MEMORY ( STATS | DOCTOR )", Rule::kKind, 2},
      {"MEMORY PURGE", Rule::kExact, 2},
      {"ROLE", Rule::kKind, 4},  // ours counts the stream also without a replica
      {"SLOWLOG ( GET [ <count> ] | LEN )", Rule::kKind, 4},
      {"SLOWLOG RESET", Rule::kExact, 2},
      {"TIME", Rule::kKind, 4},
      {"WAIT ( 0 0 | 0 10 | 1 1 | -1 0 | 0 -1 | abc 1 )", Rule::kExact, 4},
  };
  return kLines;
}

}  // namespace tally::differential
