// The commands of the stream, as lines of text from which the generator makes requests.
//
//   word          itself, in any case
//   <name>        an argument of that kind (words.h)
//   [ a b ]       with or without
//   ( a | b c )   one of them
//   { a }         one to five times, each made anew
//   a ; b         two commands, one right after the other
//   $             the line's first key, again
//   <request>     at the end: the words of another line's command
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tests/differential/comparison.h"

namespace tally::differential {

// A stream changes its phase now and then, since some commands cannot be compared beside some
// others.
enum Phase : uint8_t {
  kPlain = 1,
  kWaiting = 2,      // clients beside the stream wait in BLPOP and the like
  kTracking = 4,     // clients are told of each key that they have read and that changes
  kBroadcasting = 8  // also of keys that they have not read
};
inline constexpr uint8_t kAnyPhase = kPlain | kWaiting | kTracking | kBroadcasting;

struct Line {
  std::string_view text;
  Rule rule = Rule::kExact;  // of the line's last command but a DEL; the others' are kAnyOrder
  int weight = 100;
  uint8_t phases = kAnyPhase;  // in which it is sent
};

std::span<const Line> GenericLines();
std::span<const Line> StringLines();
std::span<const Line> ListLines();
std::span<const Line> HashLines();
std::span<const Line> SetLines();
std::span<const Line> ZSetLines();
std::span<const Line> WaitingLines();  // that end at once, or within a moment
std::span<const Line> ScriptLines();
std::span<const Line> TrackingLines();
std::span<const Line> ServerLines();  // what is asked of and set in the server, users
std::span<const Line> OtherLines();   // transactions, connections, wrong commands

// Commands that wait for ever where there is nothing, for clients that do not send the stream.
std::span<const Line> EndlessLines();
// What turns CLIENT TRACKING on and off in the phase of broadcasts.
std::span<const Line> BroadcastLines();

}  // namespace tally::differential
