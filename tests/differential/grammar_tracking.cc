// CLIENT TRACKING. In the phase of broadcasts clients are told of the same key as often as the
// server wakes, so what they hear is compared as a set.
#include "tests/differential/grammar.h"

namespace tally::differential {

std::span<const Line> TrackingLines() {
  static constexpr Line kLines[] = {
      {"CLIENT TRACKING ON [ ( OPTIN | OPTOUT ) ] [ NOLOOP ] [ REDIRECT <listener> ]", Rule::kExact,
       100, kTracking},
      {"CLIENT TRACKING ON [ NOLOOP ]", Rule::kExact, 100, kTracking | kBroadcasting},
      {"CLIENT TRACKING ON BCAST [ PREFIX <prefix> ] [ NOLOOP ] [ REDIRECT <listener> ]",
       Rule::kExact, 100, kBroadcasting},
      {"CLIENT TRACKING ON BCAST PREFIX list: PREFIX zset: [ PREFIX hash: ] [ NOLOOP ]",
       Rule::kExact, 40, kBroadcasting},
      {"CLIENT TRACKING OFF [ ( NOLOOP | OPTIN | BCAST | PREFIX <prefix> ) ]", Rule::kExact, 40},
      {"CLIENT TRACKING ON OPTIN OPTOUT", Rule::kExact, 4},
      {"CLIENT TRACKING ON [ PREFIX <prefix> ] [ OPTIN ] BCAST [ OPTOUT ]", Rule::kExact, 10,
       kBroadcasting},
      {"CLIENT TRACKING ON PREFIX <prefix>", Rule::kExact, 4},
      {"CLIENT TRACKING ( ON | OFF | <junk> ) REDIRECT ( <int> | <junk> )", Rule::kExact, 4},
      {"CLIENT TRACKING [ ( ON | OFF ) ] <junk>", Rule::kExact, 4},
      {"CLIENT CACHING ( YES | NO )", Rule::kExact, 150, kTracking},
      {"CLIENT CACHING ( YES | NO | <junk> )", Rule::kExact, 10},
      {"CLIENT TRACKINGINFO", Rule::kExact, 40},
      {"CLIENT GETREDIR", Rule::kExact, 20},
  };
  return kLines;
}

}  // namespace tally::differential
