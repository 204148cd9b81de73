#include "tests/differential/payloads.h"

#include "core/bytes/str_cat.h"
#include "tests/differential/reply.h"

namespace tally::differential {
namespace {

constexpr uint64_t kDamagedPercent = 3;

// Of RESTORE, with a deadline that no run reaches.
Request Options(Generator& generator) {
  Request options;
  if (generator.Below(3) > 0) options.emplace_back("REPLACE");
  if (generator.Below(6) == 0) options.insert(options.end(), {"IDLETIME", "7"});
  if (generator.Below(6) == 0) options.insert(options.end(), {"FREQ", "9"});
  return options;
}

}  // namespace

bool ExchangePayloads(Pair& pair, Generator& generator, std::string& report) {
  const std::string key = generator.AnyKey();
  const std::string to = generator.AnyKey();
  const Reply ours = ParseReply(pair.ours.Call({"DUMP", key}));
  const Reply theirs = ParseReply(pair.theirs.Call({"DUMP", key}));
  if (ours.null || theirs.null) {
    if (ours.null == theirs.null) return true;
    StrAppend(report, "DUMP of ", Quoted(key), "\n");
    return false;
  }
  std::string our_payload(ours.text);
  std::string their_payload(theirs.text);
  if (generator.Below(100) < kDamagedPercent) {
    for (std::string* payload : {&our_payload, &their_payload}) payload->back() ^= 1;
  }
  Request request{"RESTORE", to, generator.Below(3) > 0 ? "0" : "200000000", their_payload};
  const Request options = Options(generator);
  request.insert(request.end(), options.begin(), options.end());
  const std::string our_reply(pair.ours.Call(request));
  request[3] = our_payload;
  const std::string their_reply(pair.theirs.Call(request));
  if (our_reply == their_reply) return true;
  StrAppend(report, "RESTORE ", Quoted(to), " of what DUMP gave of ", Quoted(key),
            " by the other: ", Quoted(their_payload), " and ", Quoted(our_payload),
            "\ntallyd: ", Quoted(our_reply), "\nredis:  ", Quoted(their_reply), "\n");
  return false;
}

}  // namespace tally::differential
