// Scripts, and SORT. What SORT sorts are lists of integers that nothing else changes: of other
// texts redis-server refuses some by chance, and it unpacks sorted sets.
#include "tests/differential/grammar.h"

namespace tally::differential {

// Who broadcasts with NOLOOP is told of what its own scripts change, but not if it changes the key
// itself before the server wakes.
constexpr uint8_t kNotBroadcasting = kPlain | kWaiting | kTracking;

std::span<const Line> ScriptLines() {
  static constexpr Line kLines[] = {
      {"EVAL <caller> 0 <request>", Rule::kOfRequest, 300, kNotBroadcasting},
      {"EVAL_RO <caller> 0 <request>", Rule::kOfRequest, 50, kNotBroadcasting},
      {"EVALSHA <callersha> 0 <request>", Rule::kOfRequest, 50, kNotBroadcasting},
      {"EVAL <script> 1 <any> {<value>}", Rule::kExact, 50, kNotBroadcasting},
      {"EVAL <script> 2 <list> <list> {<element>}", Rule::kExact, 100, kNotBroadcasting},
      {"EVAL <script> 2 <string> <string> {<int>}", Rule::kExact, 100, kNotBroadcasting},
      {"( EVAL_RO <script> | EVALSHA <sha> | EVALSHA_RO <sha> ) 2 <list> <string> {<element>}",
       Rule::kExact, 100, kNotBroadcasting},
      {"( EVAL <script> | EVALSHA <sha> ) <int> {<member>}", Rule::kExact, 20, kNotBroadcasting},
      {"( EVAL | EVALSHA | EVAL_RO ) <junk> <count> [ <any> ]", Rule::kExact, 5, kNotBroadcasting},
      {"SCRIPT LOAD ( <script> | <script> | <junk> )", Rule::kExact, 40},
      {"SCRIPT EXISTS {<sha>}", Rule::kExact, 20},
      {"SCRIPT FLUSH [ ( ASYNC | SYNC | <junk> ) ]", Rule::kExact, 2},
      {"SCRIPT KILL", Rule::kExact, 2},
      {"SCRIPT HELP", Rule::kKind, 1},
      {"RPUSH <sort> {<small>}", Rule::kExact, 60},
      {"DEL <sort>", Rule::kExact, 20},
      {"SORT <sort> [ LIMIT <small> <small> ] [ ( ASC | DESC ) ] [ ALPHA ]", Rule::kExact, 60},
      {"SORT_RO <sort> [ LIMIT <small> <small> ] [ ( ASC | DESC ) ]", Rule::kExact, 30},
      {"SORT_RO <sort> STORE <list>", Rule::kExact, 4},
      {"SORT <sort> [ ( ASC | DESC ) ] [ LIMIT <small> <small> ] STORE <list>", Rule::kExact, 40},
      {"SORT <sort> BY nosort [ LIMIT <small> <small> ] [ {GET <lookup>} ]", Rule::kExact, 40},
      {"SORT <sort> [ {GET <lookup>} ] [ DESC ] [ STORE <list> ]", Rule::kExact, 40},
  };
  return kLines;
}

}  // namespace tally::differential
