// When two replies to one command say the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/reply.h"

namespace tally::differential {

// Errors and nulls are always compared byte for byte; the rules are for what is in other
// replies.
enum class Rule {
  kExact,
  kAnyOrder,   // elements in any order (SMEMBERS)
  kPairs,      // pairs in any order (HGETALL)
  kScan,       // a whole iteration: cursor 0 and elements in any order, each at least once
  kScanPairs,  // the same for pairs (HSCAN, ZSCAN)
  kSample,     // elements chosen at random among those of the reply before
  kSamplePairs,
  kDistinct,  // the same, none chosen twice
  kDistinctPairs,
  kMillis,    // a time to live that has run on between the two servers
  kSeconds,   // the same in seconds
  kInteger,   // integers, whatever they are
  kKind,      // replies of one type
  kEncoding,  // OBJECT ENCODING: a list of ours may be an intring
  kHello,     // HELLO: what it says of the server is its own
  kOfRequest  // the rule of the command that it carries
};

// `members` is the first server's reply to the command before, of which a sample is taken.
bool SameReply(Rule rule, std::string_view ours, std::string_view theirs, std::string_view members);

// The reply with each score of -0 as 0: of ours, none is negative.
std::string WithoutNegativeZeros(std::string_view reply);

// The answer to EXEC: each part by the rule of its command.
bool SameTransaction(const std::vector<Rule>& rules, std::string_view ours,
                     std::string_view theirs);

}  // namespace tally::differential
