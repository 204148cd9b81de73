// tallyd's own commands reply the same in RESP2 and RESP3. Clients of today speak RESP3 unasked:
// who reads the first element of a reply must not be handed a field's name.
#include <set>
#include <string>
#include <string_view>

#include "server/web/reply_json.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server::native_shapes_test {
namespace {

// Each command once at least with something to answer, and once with nothing.
constexpr std::string_view kConversation[] = {
    "HITS.ADD hits 1d",
    "HITS.ADD hits 1d CAP 1",
    "HITS.COUNT hits",
    "HITS.RANGE hits FROM 1699999000 TO 1700000001 STEP 10m",
    "HITS.SHOW hits",
    "HITS.UNDO hits",
    "POLICY.SET p FIXED 2 60s",
    "POLICY.GET p",
    "POLICY.GET none",
    "POLICY.LIST",
    "LIMIT.TAKE l POLICY p AND m SLIDING 1 60s",
    "LIMIT.TAKE l POLICY p AND m SLIDING 1 60s",
    "LIMIT.PEEK l POLICY p",
    "DENIALS",
    "DENIALS POLICY none",
    "LIMIT.FORCE l POLICY p COST 5",
    "DENIALS",
    "LIMIT.SHOW l",
    "LIMIT.RESERVE ann 10s r FIXED 5 60s",
    "LIMIT.EXTEND ann 20s r COST 2",
    "LIMIT.HELD r",
    "LIMIT.COMMIT ann r COST 1",
    "LIMIT.CANCEL ann r",
    "LIMIT.GIVE l",
    "LIMIT.RESET l",
    "POLICY.DEL p",
    "CL.THROTTLE cell 15 30 60",
    "ACTIVE.CREATE a WINDOW 5m",
    "ACTIVE.TOUCH a ann bob",
    "ACTIVE.TOUCHAT a 1699999990 ann",
    "ACTIVE.ONLINE a",
    "ACTIVE.SEEN a ann",
    "ACTIVE.SEEN a none",
    "ACTIVE.ALTER a WINDOW 6m",
    "ACTIVE.SHOW a",
    "ACTIVE.SHOW none",
    "ACTIVE.PEAK a",
    "ACTIVE.DAY a DAYS 2",
    "ACTIVE.USERS a FROM 2023-11-14 TO 2023-11-15",
    "ACTIVE.SERIES a FROM 1699999980 TO 1700000040 STEP 1m",
    "ACTIVE.SCAN a 0",
    "ACTIVE.FORGET a ann",
    "QUOTA.SETLIMIT b 7 0 10 30d 7 1 5 30d",
    "QUOTA.BUY b 1 100 ITEMS 7 1 2",
    "QUOTA.LIMITS b 7 8",
    "QUOTA.BUY b 1 100 ITEMS 7 1 1 HOLD 1m",
    "QUOTA.CONFIRM b 1 100",
    "QUOTA.LEFT b 1 7 8",
    "QUOTA.SHOW b 1 7 8",
    "QUOTA.RECORD b 2 101 ITEMS 7 1 2",
    "QUOTA.LEFTBYUSER b 1 2",
    "QUOTA.HISTORY b 1",
    "QUOTA.STATS b",
    "QUOTA.RETURN b 1 100 ITEMS 7 1",
    "QUOTA.RESET b 1",
    "QUOTA.DELLIMIT b 7",
    "HITS HELP",
    "LIMIT HELP",
    "POLICY HELP",
    "ACTIVE HELP",
    "QUOTA HELP",
};

std::vector<std::string> WordsOf(std::string_view line) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// The wire has one null in RESP3 and two in RESP2, which clients take for the same.
std::string WithOneNull(std::string wire) {
  for (const std::string_view null : {"$-1\r\n", "*-1\r\n"}) {
    for (size_t at = wire.find(null); at != std::string::npos; at = wire.find(null, at)) {
      wire.replace(at, null.size(), "_\r\n");
    }
  }
  return wire;
}

}  // namespace

TEST_CASE("natives: the bytes of every reply are the same in RESP2 and RESP3") {
  CommandHarness resp2;
  CommandHarness resp3;
  resp3.self->reply.set_protocol(3);
  std::set<std::string> asked;
  for (const std::string_view line : kConversation) {
    INFO(line);
    const std::vector<std::string> words = WordsOf(line);
    const std::string wire = resp2.Wire(*resp2.self, words);
    CHECK(wire.front() != '-');
    CHECK(WithOneNull(wire) == WithOneNull(resp3.Wire(*resp3.self, words)));
    const std::vector<std::string_view> args(words.begin(), words.end());
    asked.insert(resp2.commands.Resolve(args)->full_name);
  }
  for (const CommandEntry& entry : resp2.commands.entries()) {
    // HOTKEYS, which has subcommands, is Redis's.
    const bool calls =
        entry.family->native && entry.command->handler != nullptr && entry.parent == nullptr;
    if (calls) CHECK(asked.contains(entry.full_name));
  }
}

// JavaScript has no integer above 2^53: an id would come back as another one.
TEST_CASE("natives: no id that was given comes back as an integer") {
  constexpr std::string_view kLargest = "1302345678901234999";
  for (const int protocol : {2, 3}) {
    CommandHarness harness;
    harness.self->reply.set_protocol(protocol);
    for (const std::string_view line : kConversation) {
      std::vector<std::string> words = WordsOf(line);
      // Ids of users, orders, SKUs, actions and audiences, and keys.
      for (size_t i = 1; i < words.size(); ++i) {
        const bool is_quota =
            words[0].starts_with("QUOTA") && (words[i] == "7" || words[i] == "100");
        if (is_quota || words[i] == "ann" || words[i] == "hits" || words[i] == "l") {
          words[i] = kLargest;
        }
      }
      INFO(line);
      const std::string wire = harness.Wire(*harness.self, words);
      CHECK(wire.front() != '-');
      CHECK(wire.find(StrCat(":", kLargest)) == wire.npos);
      std::string json;
      AppendReplyJson(json, wire, {});
      for (size_t at = json.find(kLargest); at != json.npos; at = json.find(kLargest, at + 1)) {
        CHECK(json[at - 1] == '"');
      }
    }
  }
}

// Names that fit nothing would leave an array without anybody noticing.
TEST_CASE("natives: where a reply has names, they are those of all its elements", "[http]") {
  CommandHarness harness;
  harness.self->reply.set_protocol(3);
  std::set<std::string> named;
  for (const std::string_view line : kConversation) {
    const std::vector<std::string> words = WordsOf(line);
    const std::vector<std::string_view> args(words.begin(), words.end());
    const CommandEntry& entry = *harness.commands.Resolve(args);
    const std::string wire = harness.Wire(*harness.self, words);
    if (entry.command->reply_names.empty() || !wire.starts_with('*') || wire == "*0\r\n") continue;
    INFO(line);
    std::string json;
    AppendReplyJson(json, wire, entry.command->reply_names);
    CHECK(json.find('{') != json.npos);
    named.insert(entry.full_name);
  }
  for (const CommandEntry& entry : harness.commands.entries()) {
    if (!entry.family->native || entry.command->reply_names.empty()) continue;
    INFO(entry.full_name);
    CHECK(named.contains(entry.full_name));
  }
}

}  // namespace tally::server::native_shapes_test
