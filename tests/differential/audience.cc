#include "tests/differential/audience.h"

#include <array>
#include <string_view>

#include "core/bytes/str_cat.h"

namespace tally::differential {
namespace {

using namespace std::string_view_literals;

constexpr std::array kSubscriptions = {"SUBSCRIBE"sv,    "UNSUBSCRIBE"sv, "PSUBSCRIBE"sv,
                                       "PUNSUBSCRIBE"sv, "SSUBSCRIBE"sv,  "SUNSUBSCRIBE"sv};
// No channel has two of them, since Redis asks them in any order.
constexpr std::array kPatterns = {"m[0-2]"sv, "m[3-9]"sv, "__keyevent@1__:*"sv, "none"sv};
constexpr uint64_t kChannels = 6;

}  // namespace

Audience::Audience(Ports ports) {
  for (const int protocol : {2, 2, 3}) pairs_.push_back(std::make_unique<Pair>(ports, protocol));
  for (Client* client : {&pairs_[0]->ours, &pairs_[0]->theirs}) {
    client->Call({"CONFIG", "SET", "notify-keyspace-events", "EAn"});
    client->Call({"PSUBSCRIBE", "__keyevent@*"});
  }
  for (Client* client : {&pairs_[1]->ours, &pairs_[1]->theirs}) {
    // It reads nothing, and is told nothing. While nobody tracks, tallyd remembers nothing.
    client->Call({"CLIENT", "TRACKING", "ON", "OPTIN"});
    client->Call({"SUBSCRIBE", "__redis__:invalidate"});
  }
}

bool Audience::Act(Random& random, std::string& report) {
  const size_t who = 1 + random.Below(pairs_.size() - 1);
  Request request{std::string(random.OneOf(kSubscriptions))};
  const bool pattern = request[0].find("PSUB") == 0 || request[0].find("PUNS") == 0;
  request.push_back(pattern ? std::string(random.OneOf(kPatterns))
                            : StrCat("m", std::to_string(random.Below(kChannels))));
  if (pairs_[who]->SameReplies(request)) return true;
  StrAppend(report, request[0], " ", request[1], " of listener ", std::to_string(who), "\n");
  return false;
}

bool Audience::Agree(bool as_sets, std::string& report) {
  bool same = true;
  for (const auto& pair : pairs_) same &= SameMessages(*pair, as_sets, report);
  return same;
}

std::vector<std::string> Audience::ids() const {
  return {pairs_[1]->ours.id(), pairs_[2]->ours.id()};
}

}  // namespace tally::differential
