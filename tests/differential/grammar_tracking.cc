// CLIENT TRACKING. In the phase of broadcasts clients are told of the same key as often as the
// server wakes, so what they hear is compared as a set; and what they were not yet told of when
// they turn it off is lost. So they turn it on and off only between the stream's batches.
#include "tests/differential/grammar.h"

namespace tally::differential {

std::span<const Line> TrackingLines() {
  static constexpr Line kLines[] = {
      {"CLIENT TRACKING ON [ ( OPTIN | OPTOUT ) ] [ NOLOOP ] [ REDIRECT <listener> ]", Rule::kExact,
       100, kTracking},
      {"CLIENT TRACKING ON [ NOLOOP ]", Rule::kExact, 100, kTracking},
      {"CLIENT TRACKING OFF [ ( NOLOOP | OPTIN | BCAST | PREFIX <prefix> ) ]", Rule::kExact, 40,
       kPlain | kWaiting | kTracking},
      {"CLIENT TRACKING ON OPTIN OPTOUT", Rule::kExact, 4},
      {"CLIENT TRACKING ON PREFIX <prefix>", Rule::kExact, 4},
      {"CLIENT TRACKING ( ON | OFF | <junk> ) REDIRECT ( 999999 | <junk> )", Rule::kExact, 4},
      {"CLIENT TRACKING [ ( ON | OFF ) ] <junk>", Rule::kExact, 4},
      {"CLIENT CACHING ( YES | NO )", Rule::kExact, 150, kTracking},
      {"CLIENT CACHING ( YES | NO | <junk> )", Rule::kExact, 10},
      {"CLIENT TRACKINGINFO", Rule::kExact, 40},
      {"CLIENT GETREDIR", Rule::kExact, 20},
  };
  return kLines;
}

std::span<const Line> BroadcastLines() {
  static constexpr Line kLines[] = {
      {"CLIENT TRACKING ON [ NOLOOP ] [ REDIRECT <listener> ]"},
      {"CLIENT TRACKING ON BCAST [ PREFIX <prefix> ] [ NOLOOP ] [ REDIRECT <listener> ]"},
      {"CLIENT TRACKING ON BCAST PREFIX list: PREFIX zset: [ PREFIX hash: ] [ NOLOOP ]"},
      {"CLIENT TRACKING ON [ PREFIX <prefix> ] [ OPTIN ] BCAST [ OPTOUT ]"},
      {"CLIENT TRACKING OFF"},
      {"CLIENT TRACKING OFF ( BCAST | PREFIX <prefix> )"},
      {"CLIENT TRACKINGINFO"},
      {"RESET"},
      {"HELLO ( 2 | 3 )", Rule::kHello},
      {"HELLO 3", Rule::kHello},
  };
  return kLines;
}

}  // namespace tally::differential
