#include "core/limit/rule_words.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/limit/limit_state.h"
#include "core/limit/rule_forms.h"
#include "core/tzdata/tzdata_zones.h"

namespace tally::rule_words_test {
namespace {

// Counts how often a zone is looked for, which is once for each rule that names one.
class CountedZones final : public ZoneSource {
 public:
  Zone* FindNamed(std::string_view name) override {
    ++finds;
    return name == "Mars/Phobos" && !has_mars ? nullptr : zones_.Find("Asia/Shanghai");
  }

  int finds = 0;
  bool has_mars = false;

 private:
  TzdataZones zones_;
};

struct Grammar {
  // The rules that the words say, or nothing and the error.
  bool Read(const std::string& line, WordOrigin origin = WordOrigin::kCaller) {
    line_ = line;
    words.clear();
    for (std::string_view rest = line_; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      words.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    list = RuleList();
    error.clear();
    index = 0;
    const RuleParser parser(zones, policies);
    return parser.Read(WordReader(words, origin, error), index, list);
  }
  std::string Error(const std::string& line) {
    REQUIRE_FALSE(Read(line));
    return error;
  }

  TzdataZones zones;
  PolicyTable policies;
  std::vector<std::string_view> words;
  size_t index = 0;
  RuleList list;
  std::string error;

 private:
  std::string line_;
};

TEST_CASE("words are rules up to the first that begins none") {
  Grammar grammar;
  REQUIRE(
      grammar.Read("fixed 3 10m BUCKET 5 2 1s calendar 9 week weekstart sunday tz asia/SHANGHAI "
                   "BASE 4 5 60s ALLOW AND key"));
  CHECK(grammar.index == 19);
  CHECK(grammar.list.words.size() == 19);
  CHECK(grammar.list.words[13] == "Asia/Shanghai");
  REQUIRE(grammar.list.rules.size() == 5);

  RuleList wordless;
  wordless.keeps_words = false;
  std::string error;
  size_t index = 0;
  const WordReader in(grammar.words, WordOrigin::kCaller, error);
  REQUIRE(RuleParser(grammar.zones, grammar.policies).Read(in, index, wordless));
  CHECK(index == 19);
  CHECK(wordless.rules.size() == 5);
  CHECK(wordless.words.empty());

  CHECK(LimitKey::Of(grammar.list.rules[0]) == LimitKey::Of(LimitRule::Fixed(3, 600'000)));
  CHECK(grammar.list.rules[1].refill == 2);
  CHECK(grammar.list.rules[2].start == kSundayWeek);
  CHECK(grammar.list.rules[2].zone == grammar.zones.Find("Asia/Shanghai"));
  CHECK(grammar.list.rules[3].zone == &grammar.zones.utc());
  CHECK(grammar.list.rules[4].algorithm == LimitAlgorithm::kAllow);
}

TEST_CASE("a policy stands for its rules, and for their words") {
  Grammar grammar;
  grammar.policies.Set("login", {"FIXED", "3", "60s", "DENY"});
  REQUIRE(grammar.Read("SLIDING 1 1s POLICY login"));
  CHECK(grammar.list.rules.size() == 3);
  CHECK(grammar.list.words.size() == 7);
  CHECK(grammar.list.words[3] == "FIXED");
  std::string error;
  RuleList list;
  const RuleParser parser(grammar.zones, grammar.policies);
  CHECK_FALSE(parser.ReadPlain(WordReader(grammar.words, WordOrigin::kCaller, error), list));
  CHECK(error ==
        "rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, LOCKOUT, CONCURRENT, "
        "HOLDS, ALLOW or DENY in a policy, not 'POLICY'");
}

TEST_CASE("SHADOW is before one rule, or before all rules of a policy but HOLDS") {
  Grammar grammar;
  grammar.policies.Set("new", {"FIXED", "3", "60s", "HOLDS", "10m", "0.3", "CALENDAR", "5", "day",
                               "TZ", "Asia/Tokyo"});
  REQUIRE(grammar.Read("SLIDING 1 1s shadow fixed 2 5s SHADOW POLICY new COST 3"));
  CHECK(grammar.index == 10);
  REQUIRE(grammar.list.rules.size() == 4);
  for (size_t i = 0; i < 4; ++i) CHECK(grammar.list.rules[i].shadow == (i > 0));
  CHECK(grammar.list.rules[3].zone == grammar.zones.Find("Asia/Tokyo"));
  CHECK(grammar.list.rules[1].policy == nullptr);
  CHECK(grammar.list.rules[2].policy != nullptr);
  std::string words;
  for (const std::string_view word : grammar.list.words) StrAppend(words, word, " ");
  CHECK(words ==
        "SLIDING 1 1s SHADOW fixed 2 5s SHADOW FIXED 3 60s SHADOW CALENDAR 5 day TZ Asia/Tokyo ");
}

TEST_CASE("HOLDS has a share, which is a half if none is given") {
  Grammar grammar;
  REQUIRE(grammar.Read("HOLDS 10m HOLDS 1h 0.025 HOLDS 2h 1 FIXED 1 1s"));
  CHECK(grammar.list.rules[0].limit == kWholeShare / 2);
  CHECK(grammar.list.rules[1].limit == 25);
  CHECK(grammar.list.rules[2].limit == kWholeShare);
  CHECK(grammar.list.rules[2].period_ms == 7'200'000);
  const std::vector<std::string_view> words = {"HOLDS", "1m", "0.5", "SHADOW", "FIXED", "1", "1s"};
  CHECK(RuleLength(words, 0) == 3);
  CHECK(RuleLength(words, 3) == 1);
  CHECK(RuleLength(words, 4) == 3);
}

TEST_CASE("the words of a policy are read once, until it is set again") {
  CountedZones zones;
  PolicyTable policies;
  std::string error;
  const std::vector<std::string_view> words = {"POLICY", "day"};
  const auto read = [&](WordOrigin origin, RuleList& list) {
    error.clear();
    size_t index = 0;
    return RuleParser(zones, policies).Read(WordReader(words, origin, error), index, list);
  };
  const StoredWords day = {"CALENDAR", "7", "day", "TZ", "Asia/Shanghai", "FIXED", "3", "60s"};
  for (int sets = 1; sets <= 2; ++sets) {
    policies.Set("day", day);
    for (int uses = 0; uses < 3; ++uses) {
      RuleList list;
      REQUIRE(read(WordOrigin::kCaller, list));
      CHECK(list.rules.size() == 2);
      CHECK(list.rules[0].limit == 7);
      CHECK(list.rules[1].policy == &policies.Find("day")->tally());
      CHECK(StoredWords(list.words.begin(), list.words.end()) == day);
    }
    CHECK(zones.finds == sets);
    CHECK(policies.Find("day")->words() == day);
  }

  // A zone that is missing is looked for each time, since it may come.
  policies.Set("day", {"CALENDAR", "7", "day", "TZ", "Mars/Phobos"});
  RuleList list;
  CHECK(read(WordOrigin::kStored, list));
  CHECK_FALSE(read(WordOrigin::kCaller, list));
  CHECK(error.find("'Mars/Phobos'") != std::string::npos);
  zones.has_mars = true;
  CHECK(read(WordOrigin::kCaller, list));
}

TEST_CASE("a policy's rules count among the most of a decision") {
  Grammar grammar;
  StoredWords words;
  for (size_t i = 0; i < kMaxRules; ++i) words.insert(words.end(), {"FIXED", "3", "60s"});
  grammar.policies.Set("most", words);
  for (int use = 0; use < 2; ++use) {
    REQUIRE(grammar.Read("POLICY most"));
    CHECK(grammar.list.rules.size() == kMaxRules);
    CHECK(grammar.Error("FIXED 3 1s POLICY most") == "rules must be at most 64 in one command");
    CHECK(grammar.Error("POLICY most FIXED 3 1s") == "rules must be at most 64 in one command");
  }
}

TEST_CASE("what is wrong with a rule is said by its argument") {
  Grammar grammar;
  CHECK(grammar.Error("").empty());
  CHECK(grammar.Error("FIXED 3") == "FIXED needs: limit period");
  CHECK(grammar.Error("POLICY") == "POLICY needs: name");
  CHECK(grammar.Error("POLICY x") == "POLICY must be the name of one, there is no 'x'");
  CHECK(grammar.Error("FIXED -1 1s") == "limit must be an integer of at least 0");
  CHECK(grammar.Error("FIXED 1 0") ==
        "period must be a duration above 0, as 500ms, 5s, 10m, 24h or 7d");
  CHECK(grammar.Error("CALENDAR 1 fortnight") ==
        "unit must be second, minute, hour, day, week, month or year");
  CHECK(grammar.Error("CALENDAR 1 day TZ Asia/Nowhere") ==
        "TZ must be an IANA time zone that this system knows, or an offset as +08:00, not "
        "'Asia/Nowhere'");
  CHECK(grammar.Error("CALENDAR 1 day TZ UTC+8").ends_with(", not 'UTC+8': write +08:00"));
  CHECK(grammar.Error("CALENDAR 1 day TZ GMT-0330").ends_with(": write -03:30"));
  CHECK(grammar.Error("CALENDAR 1 day TZ UTC+15").ends_with(", not 'UTC+15'"));
  CHECK(grammar.Error("LOCKOUT 5 1h") == "LOCKOUT needs: limit period block");
  CHECK(grammar.Error("LOCKOUT 5 1h 1h GROW 2") == "GROW needs: MAX most");
  CHECK(grammar.Error("LOCKOUT 5 1h 1h MAX 2h") == "MAX needs: GROW factor");
  CHECK(grammar.Error("LOCKOUT 5 1h 2h GROW 2 MAX 1h") == "MAX must not be below block");
  CHECK(grammar.Error("LOCKOUT 5 1h 1h GROW 2 GROW 3 MAX 1d") == "GROW is given twice");
  for (const char* factor : {"0.5", "0", "-2", "", "1.", ".5", "1.0001", "1000001", "x", "1e3"}) {
    INFO(factor);
    CHECK(grammar.Error(StrCat("LOCKOUT 5 1h 1h GROW ", factor, " MAX 1d"))
              .starts_with("GROW must be a number from 1 to 1000000"));
  }
  for (const char* rule :
       {"month STARTS 0", "month STARTS 32", "month STARTS 1T24:00", "month STARTS 1T",
        "day STARTS 24:00", "day STARTS 1:00", "day STARTS 12:60", "week STARTS someday",
        "year STARTS 02-30", "year STARTS 13-01", "year STARTS 00-10", "year STARTS 04-31",
        "hour STARTS 10"}) {
    INFO(rule);
    CHECK(grammar.Error(StrCat("CALENDAR 1 ", rule)).starts_with("STARTS "));
  }
  CHECK(grammar.Error("CALENDAR 1 week STARTS sunday WEEKSTART sunday") ==
        "STARTS and WEEKSTART say the same: give one of them");
  CHECK(
      grammar.Error("FIXED 1 1s FROM 1795230400123").starts_with("FROM 1795230400123 looks like"));
  CHECK(grammar.Error("SHADOW") == "SHADOW needs: rule");
  CHECK(grammar.Error("SHADOW SHADOW FIXED 1 1s") == "SHADOW of SHADOW is no rule: say it once");
  CHECK(grammar.Error("SHADOW LOCKOUT 1 1s 1s").starts_with("SHADOW of LOCKOUT is no rule"));
  CHECK(grammar.Error("SHADOW HOLDS 1s") == "SHADOW of HOLDS is no rule");
  CHECK(grammar.Error("SHADOW FIXED 1") == "FIXED needs: limit period");
  CHECK(grammar.Error("SHADOW maybe").ends_with("ALLOW or DENY after SHADOW, not 'maybe'"));
  grammar.policies.Set("locks", {"LOCKOUT", "3", "1m", "1h"});
  CHECK(grammar.Error("SHADOW POLICY locks").starts_with("SHADOW of LOCKOUT is no rule"));
  CHECK(grammar.Error("SHADOW POLICY none").starts_with("POLICY must be the name of one"));
  for (const char* share : {"0", "0.0", "1.001", "2", "0.0005", "5e-1"}) {
    INFO(share);
    CHECK(grammar.Error(StrCat("HOLDS 1m ", share)).starts_with("share must be above 0"));
  }
  CHECK(grammar.Error("HOLDS") == "HOLDS needs: longest");
  CHECK(grammar.Error("HOLDS 0").starts_with("longest must be a duration above 0"));
  CHECK(grammar.Error("FIXED 1 1s FROM 1 FROM 2") == "FROM is given twice");
  CHECK(grammar.Error("CALENDAR 1 week WEEKSTART tuesday") == "WEEKSTART must be monday or sunday");
  CHECK(grammar.Error("BUCKET 9000000000000000000 1 7d") == "capacity is too large for the period");
  CHECK(grammar.Error("MAYBE") ==
        "rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, LOCKOUT, CONCURRENT, ALLOW, "
        "DENY or "
        "POLICY, not "
        "'MAYBE'");
  std::string many;
  for (size_t i = 0; i <= kMaxRules; ++i) StrAppend(many, "DENY ");
  CHECK(grammar.Error(many) == "rules must be at most 64 in one command");
}

TEST_CASE("what was stored may name zones that are gone") {
  Grammar grammar;
  REQUIRE(grammar.Read("CALENDAR 1 day TZ Asia/Nowhere", WordOrigin::kStored));
  CHECK(grammar.list.rules[0].zone->is_missing());
}

TEST_CASE("instants from callers are no milliseconds without their unit") {
  const std::string_view words[] = {"179523040012", "1795230400123ms", "1795230400.5"};
  std::string error;
  int64_t at = 0;
  const WordReader caller(words, WordOrigin::kCaller, error);
  CHECK_FALSE(caller.Instant(0, "AT", at));
  CHECK(error == "AT 179523040012 looks like milliseconds: write 179523040012ms");
  CHECK(caller.Instant(1, "AT", at));
  CHECK(at == 1'795'230'400'123);
  CHECK(caller.Instant(2, "AT", at));
  CHECK(at == 1'795'230'400'500);
  const WordReader stored(words, WordOrigin::kStored, error);
  CHECK(stored.Instant(0, "AT", at));
  error.clear();
  CHECK_FALSE(caller.Instant(3, "AT", at));
  CHECK(error.empty());
}

}  // namespace
}  // namespace tally::rule_words_test
