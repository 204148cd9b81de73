#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "random_seed.h"
#include "server/command_harness.h"
#include "server/replay.h"
#include "server/usage_text.h"

namespace tally::server::hits_commands_test {
namespace {

// kBegin in unix seconds.
constexpr int64_t kBeginS = CommandHarness::kBegin / 1000;

std::string Instant(int64_t ms) {
  const std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
  return StrCat(ms / 1000, ".", fraction);
}

}  // namespace

TEST_CASE("HITS.ADD answers the hits in the window with this one") {
  CommandHarness h;
  CHECK(h.Run("HITS.ADD k 10s") == ":1");
  CHECK(h.Run("HITS.ADD k 10s") == ":2");
  CHECK(h.Run("hits.add k 10s count 5") == ":7");
  h.Advance(9'999);
  CHECK(h.Run("HITS.ADD k 10s") == ":8");
  h.Advance(1);  // the first hits are ten seconds old: outside
  CHECK(h.Run("HITS.ADD k 10s") == ":2");
  CHECK(h.Run("TYPE k") == "+hits");
}

TEST_CASE("HITS.ADD gives null and adds nothing if the window already holds CAP") {
  CommandHarness h;
  CHECK(h.Run("HITS.ADD k 10s CAP 2") == ":1");
  CHECK(h.Run("HITS.ADD k 10s CAP 2") == ":2");
  h.Effects();
  CHECK(h.Run("HITS.ADD k 10s CAP 2") == "nil");
  CHECK(h.Run("HITS.ADD new 10s CAP 0") == "nil");
  CHECK(h.Effects().empty());
  CHECK(h.Run("HITS.COUNT k") == ":2");
  CHECK(h.Run("EXISTS new") == ":0");
  h.Advance(10'000);
  CHECK(h.Run("HITS.ADD k 10s CAP 2 COUNT 5") == ":5");
}

TEST_CASE("HITS.COUNT counts in the key's own window, or in the one given; absent keys have none") {
  CommandHarness h;
  CHECK(h.Run("HITS.COUNT k") == ":0");
  CHECK(h.Run("HITS.COUNT k WINDOW 1s AT 5") == ":0");
  h.Run("HITS.ADD k 10s");
  h.Advance(6'000);
  h.Run("HITS.ADD k 10s COUNT 2");
  CHECK(h.Run("HITS.COUNT k") == ":3");
  CHECK(h.Run("HITS.COUNT k WINDOW 6s") == ":2");
  CHECK(h.Run("HITS.COUNT k WINDOW 6.001") == ":3");
  CHECK(h.Run("HITS.COUNT k WINDOW 1d") == ":3");
  CHECK(h.Run(StrCat("HITS.COUNT k WINDOW 4s AT ", kBeginS + 3)) == ":3");
  // An AT after now is now.
  CHECK(h.Run(StrCat("HITS.COUNT k AT ", kBeginS + 10)) == h.Run("HITS.COUNT k"));
  CHECK(h.Effects().size() == 2);
}

TEST_CASE("HITS.UNDO takes the newest back and answers what is left; the last one ends the key") {
  CommandHarness h;
  CHECK(h.Run("HITS.UNDO k") == ":0");
  h.Run("HITS.ADD k 10s COUNT 3");
  h.Advance(4'000);
  h.Run("HITS.ADD k 10s COUNT 2");
  CHECK(h.Run("PTTL k") == ":10000");
  CHECK(h.Run("HITS.UNDO k") == ":4");
  CHECK(h.Run("HITS.UNDO k 2") == ":2");
  // The newest that is left says when the key ends.
  CHECK(h.Run("PTTL k") == ":6000");
  CHECK(h.Run("HITS.UNDO k 0") == ":2");
  CHECK(h.Run("HITS.UNDO k 9") == ":0");
  CHECK(h.Run("EXISTS k") == ":0");
}

TEST_CASE("HITS.RANGE counts the hits of each step, the last of which may be short") {
  CommandHarness h;
  h.Advance(10'000);
  for (const int second : {0, 1, 1, 5, 9}) h.Run(StrCat("HITS.ADD k 1h AT ", kBeginS + second));
  const auto range = [&](int from, int to, std::string_view step) {
    return h.Run(
        StrCat("HITS.RANGE k FROM ", kBeginS + from, " TO ", kBeginS + to, " STEP ", step));
  };
  CHECK(range(0, 10, "2s") == "[:3 :0 :1 :0 :1]");
  CHECK(range(0, 9, "5s") == "[:3 :1]");
  CHECK(range(1, 1, "5s") == "[]");
  CHECK(h.Run("HITS.RANGE none STEP 1 TO 3 FROM 1") == "[:0 :0]");
  CHECK(range(0, 100'000, "1s").size() == 2 + 100'000 * 3 - 1);
  CHECK(range(0, 100'001, "1s") == "-ERR STEP must not cut the range into more than 100000 steps");
  CHECK(range(2, 1, "1s") == "-ERR TO must not be before FROM");
}

TEST_CASE("HITS.SHOW answers the key's window, its hits, the newest and the end") {
  CommandHarness h;
  CHECK(h.Run("HITS.SHOW k") == "nil[]");
  h.Run("HITS.ADD k 10s COUNT 3");
  h.Advance(4'000);
  h.Run("HITS.ADD k 5s");
  const auto shown = [&](int64_t hits, int64_t newest) {
    return StrCat("[:10000 :", hits, " :", newest, " :", newest + 10'000, "]");
  };
  CHECK(h.Run("HITS.SHOW k") == shown(4, CommandHarness::kBegin + 4'000));
  h.Advance(6'000);  // the first hits are ten seconds old: outside
  CHECK(h.Run("HITS.SHOW k") == shown(1, CommandHarness::kBegin + 4'000));
  // A hit from the future is one now.
  h.Run(StrCat("HITS.ADD k 10s AT ", kBeginS + 60));
  CHECK(h.Run("HITS.SHOW k") == shown(2, CommandHarness::kBegin + 10'000));
  CHECK(h.Effects().size() == 3);
  h.Advance(60'000);
  CHECK(h.Run("HITS.SHOW k") == "nil[]");
  h.Run("SET text a");
  CHECK(h.Run("HITS.SHOW text").substr(0, 10) == "-WRONGTYPE");
}

TEST_CASE("durations have a unit or are seconds, with a fraction") {
  CommandHarness h;
  const std::map<std::string, int64_t> durations = {
      {"500ms", 500},      {"5s", 5'000},  {"10m", 600'000}, {"24h", 86'400'000},
      {"7d", 604'800'000}, {"90", 90'000}, {"1.5", 1'500}};
  for (const auto& [text, ms] : durations) {
    CHECK(h.Run(StrCat("HITS.ADD ", text, " ", text)) == ":1");
    CHECK(h.Run(StrCat("PTTL ", text)) == StrCat(":", ms));
  }
}

TEST_CASE(
    "a hit from the future is now; late hits are put in their place or dropped with the same "
    "reply") {
  CommandHarness h;
  CHECK(h.Run(StrCat("HITS.ADD k 10s AT ", kBeginS + 3)) == ":1");
  CHECK(h.Run("HITS.COUNT k") == ":1");
  CHECK(h.Run("PTTL k") == ":10000");
  h.Effects();
  CHECK(h.Run(StrCat("HITS.ADD k 10s AT ", kBeginS - 9)) == ":2");
  CHECK(h.Run(StrCat("HITS.COUNT k WINDOW 9s")) == ":1");
  h.Effects();
  // A window that ended when this one began.
  CHECK(h.Run(StrCat("HITS.ADD k 10s AT ", kBeginS - 10)) == ":3");
  CHECK(h.Run("HITS.COUNT k") == ":2");
  CHECK(h.Run(StrCat("HITS.ADD other 10s AT ", kBeginS - 10)) == ":1");
  CHECK(h.Run("EXISTS other") == ":0");
  CHECK(h.Effects().empty());
}

TEST_CASE("a key of hits lives exactly as long as something in it can count") {
  CommandHarness h;
  h.Run("HITS.ADD k 10s");
  h.Advance(4'000);
  h.Run("HITS.ADD k 10s");
  h.Advance(9'999);
  CHECK(h.Run("EXISTS k") == ":1");
  h.Advance(1);
  h.ExpireDue();
  CHECK(h.engine.database(0).size() == 0);
  CHECK(h.Effects().back() == "DEL k");
}

TEST_CASE("errors of HITS name the argument and change nothing") {
  CommandHarness h;
  const std::string duration = " must be a duration above 0, as 500ms, 5s, 10m, 24h or 7d";
  const std::string instant =
      " must be unix seconds, with or without a fraction, or milliseconds as 1795230400123ms";
  CHECK(h.Run("HITS.ADD k x") == "-ERR window" + duration);
  CHECK(h.Run("HITS.ADD k 0") == "-ERR window" + duration);
  CHECK(h.Run("HITS.ADD k -5s") == "-ERR window" + duration);
  CHECK(h.Run("HITS.ADD k 1s COUNT x") == "-ERR COUNT must be an integer of at least 0");
  CHECK(h.Run("HITS.ADD k 1s COUNT -1") == "-ERR COUNT must be an integer of at least 0");
  CHECK(h.Run("HITS.ADD k 1s CAP 9223372036854775808") ==
        "-ERR CAP must be an integer of at least 0");
  CHECK(h.Run("HITS.ADD k 1s AT 1700000000000") ==
        "-ERR AT 1700000000000 looks like milliseconds: write 1700000000000ms");
  CHECK(h.Run("HITS.RANGE k FROM 1700000000123.5 TO 2 STEP 1") ==
        "-ERR FROM 1700000000123.5 looks like milliseconds: write 1700000000123ms");
  CHECK(h.Run("HITS.RANGE k FROM 1 TO 100000000001 STEP 1") ==
        "-ERR TO 100000000001 looks like milliseconds: write 100000000001ms");
  CHECK(h.Run("HITS.ADD k 1s AT 1700000000000000") == "-ERR AT" + instant);
  CHECK(h.Run("HITS.ADD k 1s AT 253402300800000ms") == "-ERR AT" + instant);
  CHECK(h.Run("HITS.COUNT k AT 5s") == "-ERR AT" + instant);
  CHECK(h.Run("HITS.ADD k 1s AT -1") == "-ERR AT" + instant);
  CHECK(WithoutUsage(h.Run("HITS.ADD k 1s AT")) == "-ERR syntax error");
  CHECK(WithoutUsage(h.Run("HITS.ADD k 1s NOW 5")) == "-ERR syntax error");
  CHECK(WithoutUsage(h.Run("HITS.ADD k 1s FOO 5")) == "-ERR syntax error");
  CHECK(h.Run("HITS.COUNT k WINDOW 0s") == "-ERR WINDOW" + duration);
  CHECK(h.Run("HITS.UNDO k x") == "-ERR n must be an integer of at least 0");
  CHECK(WithoutUsage(h.Run("HITS.UNDO k 1 AT 5")) == "-ERR syntax error");
  CHECK(h.Run("HITS.RANGE k FROM 1 TO 2 STEP 0") == "-ERR STEP" + duration);
  CHECK(h.Run("HITS.RANGE k FROM 1 TO x STEP 1") == "-ERR TO" + instant);
  CHECK(WithoutUsage(h.Run("HITS.RANGE k FROM 1 FROM 2 STEP 1")) == "-ERR FROM is given twice");
  CHECK(h.Effects().empty());
  CHECK(h.engine.database(0).size() == 0);
  h.Run("SET s 1");
  for (const std::string_view line :
       {"HITS.ADD s 1s", "HITS.COUNT s", "HITS.UNDO s", "HITS.RANGE s FROM 1 TO 2 STEP 1"}) {
    CHECK(h.Run(line) == "-WRONGTYPE Operation against a key holding the wrong kind of value");
  }
}

TEST_CASE("the effects of HITS carry absolute times, and NOW where the clock showed another") {
  CommandHarness h;
  h.Advance(7);
  h.Run("HITS.ADD k 10s CAP 3");
  h.Run(StrCat("HITS.ADD k 1.5 COUNT 2 AT ", kBeginS - 1));
  h.Run("HITS.UNDO k");
  const std::string now = StrCat(kBeginS, ".007");
  CHECK(h.Effects() == std::vector<std::string>{
                           StrCat("HITS.ADD k 10000ms COUNT 1 CAP 3 AT ", now),
                           StrCat("HITS.ADD k 1500ms COUNT 2 AT ", kBeginS - 1, ".000 NOW ", now),
                           StrCat("HITS.UNDO k 1 AT ", now)});
}

TEST_CASE("HITS notifies listeners and watchers") {
  CommandHarness h;
  h.state.key_events.set_classes(kEventKeyevent | kEventModule | kEventGeneric);
  Client& listener = *h.Connect();
  h.state.pubsub.Subscribe(listener, "__keyevent@0__:hits.add");
  h.state.pubsub.Subscribe(listener, "__keyevent@0__:hits.undo");
  h.Run("HITS.ADD k 10s");
  CHECK(h.Received(listener) == "[\"message\" \"__keyevent@0__:hits.add\" \"k\"]");
  h.state.watches.Watch(listener, 0, "k", false);
  h.Run("HITS.UNDO k");
  CHECK(h.Received(listener) == "[\"message\" \"__keyevent@0__:hits.undo\" \"k\"]");
  CHECK(listener.transaction.touched);
}

TEST_CASE("hits are renamed, copied, moved and expired like other keys") {
  CommandHarness h;
  for (const int hits : {3, 3'000}) {  // packed in the record, and on the heap
    h.Run("FLUSHALL");
    for (int i = 0; i < hits; ++i) {
      h.Run("HITS.ADD k 1h");
      h.Advance(1);
    }
    CHECK(h.Run("OBJECT ENCODING k") == (hits == 3 ? "\"packed\"" : "\"timelog\""));
    CHECK(h.Run("COPY k copy") == ":1");
    CHECK(h.Run("RENAME k renamed") == "+OK");
    CHECK(h.Run("HITS.ADD renamed 1h") == StrCat(":", hits + 1));
    CHECK(h.Run("HITS.COUNT copy") == StrCat(":", hits));
    CHECK(h.Run("PTTL copy") == ":3599999");
    CHECK(h.Run("EXPIRE copy 5") == ":1");
    h.Advance(5'000);
    CHECK(h.Run("HITS.COUNT copy") == ":0");
    CHECK(h.Run("SCAN 0 TYPE hits") == "[\"0\" [\"renamed\"]]");
    CHECK(h.Run("DEL renamed") == ":1");
  }
}

TEST_CASE("64 clients that add hits of one text answer each number once") {
  CommandHarness h;
  test::SeededRandom random;
  INFO("seed " << random.seed());
  std::vector<Client*> clients;
  for (int i = 0; i < 64; ++i) clients.push_back(h.Connect());
  std::set<std::string> answers;
  constexpr size_t kHits = 64 * 50;
  for (size_t i = 0; i < kHits; ++i) {
    answers.insert(h.Run(*clients[random.Below(clients.size())], "HITS.ADD text 24h"));
    if (random.OneIn(3)) h.Advance(random.Between(0, 20));
  }
  CHECK(answers.size() == kHits);
  CHECK(answers.count(":1") == 1);
  CHECK(answers.count(StrCat(":", kHits)) == 1);
}

namespace {

// All events of one key, and what the specification says of them.
struct HitModel {
  std::vector<int64_t> hits;
  int64_t window = 0;
  int64_t late = 0;  // how much longer the key lives

  int64_t Newest() const { return hits.empty() ? 0 : *std::max_element(hits.begin(), hits.end()); }
  void Expire(int64_t now) {
    if (Newest() + window + late <= now) *this = HitModel();
  }
  int64_t In(int64_t w, int64_t e, int64_t gone_through) const {
    return std::count_if(hits.begin(), hits.end(),
                         [&](int64_t at) { return at > std::max(e - w, gone_through); });
  }
  int64_t GoneThrough(int64_t now) const { return now - late - window; }
  void Drop(int64_t through) {
    std::erase_if(hits, [&](int64_t at) { return at <= through; });
  }
  std::string Add(int64_t n, int64_t w, int64_t at, int64_t now, std::optional<int64_t> cap) {
    Expire(now);
    at = std::min(at, now);
    const int64_t e = cap ? std::max(at, Newest()) : now;
    const int64_t gone_through = cap ? e - window : GoneThrough(now);
    const int64_t held = In(w, e, gone_through);
    if (cap && held >= *cap) return "nil";
    if (n > 0 && (cap || at > GoneThrough(now) - std::max<int64_t>(0, w - window))) {
      Drop(gone_through);
      const int64_t found_by = Newest() + late;
      hits.insert(hits.end(), static_cast<size_t>(n), cap ? e : at);
      late = cap ? now - e : std::max<int64_t>(0, found_by - Newest());
      window = std::max(w, window);
    }
    return StrCat(":", held + n);
  }
  std::string Undo(size_t n, int64_t now) {
    Expire(now);
    if (n == 0) return StrCat(":", In(window, now, GoneThrough(now)));
    Drop(GoneThrough(now));
    std::sort(hits.begin(), hits.end());
    hits.resize(hits.size() - std::min(n, hits.size()));
    const size_t left = hits.size();
    if (left == 0) *this = HitModel();
    return StrCat(":", left);
  }
};

}  // namespace

TEST_CASE("HITS.ADD with CAP goes by event time, and says so in its effect") {
  CommandHarness h;
  const std::string late = StrCat("HITS.ADD k 10s CAP 2 AT ", kBeginS - 11);
  CHECK(h.Run(late) == ":1");
  CHECK(h.Effects() ==
        std::vector<std::string>{StrCat("HITS.ADD k 10000ms COUNT 1 CAP 2 AT ", kBeginS - 11,
                                        ".000 NOW ", kBeginS, ".000")});
  CHECK(h.Run(late) == ":2");
  CHECK(h.Run(late) == "nil");
  CHECK(h.Run("PTTL k") == ":10000");
  CHECK(h.Run("HITS.ADD k 10s CAP 2") == ":1");
  CHECK(h.Run(late) == ":2");
  CHECK(h.Run(late) == "nil");
  // Older than max-lateness counts as that old.
  h.config.max_lateness_ms = 5'000;
  h.Effects();
  CHECK(h.Run("HITS.ADD m 10s CAP 2 AT 0") == ":1");
  CHECK(h.Effects() == std::vector<std::string>{StrCat("HITS.ADD m 10000ms COUNT 1 CAP 2 AT ",
                                                       kBeginS - 5, ".000 NOW ", kBeginS, ".000")});
}

TEST_CASE("HITS of a clock that was ahead are hits of now, also where a cap refuses") {
  CommandHarness h;
  h.state.clock.Set(h.now() + 400 * int64_t{86'400'000});
  h.Run("HITS.ADD k 10s COUNT 3");
  h.state.clock.Set(CommandHarness::kBegin);
  h.Effects();
  CHECK(h.Run("HITS.ADD k 10s CAP 3") == "nil");
  CHECK(h.Run("PTTL k") == ":10000");
  CHECK(h.Effects() ==
        std::vector<std::string>{StrCat("HITS.ADD k 10000ms COUNT 0 CAP 3 AT ", kBeginS, ".000")});
  h.Advance(10'000);
  CHECK(h.Run("HITS.ADD k 10s CAP 3") == ":1");
}

TEST_CASE("HITS agrees with a list of all events, and its log replays to the same answers") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  CommandHarness h;
  std::map<std::string, HitModel> model;
  std::vector<std::string> effects;
  const int64_t windows[] = {1'000, 5'000, 5'001, 60'000};
  for (int step = 0; step < 6'000; ++step) {
    if (random.OneIn(2)) h.Advance(random.OneIn(50) ? 70'000 : random.Between(0, 700));
    const int64_t now = h.now();
    const std::string key = StrCat("k", random.Below(4));
    HitModel& own = model[key];
    const uint64_t kind = random.Below(20);
    if (kind < 14) {
      const int64_t window = windows[random.Below(random.OneIn(30) ? 4 : 2)];
      const int64_t n = random.OneIn(4) ? random.Between(0, 3) : 1;
      std::optional<int64_t> cap;
      if (random.OneIn(3)) cap = random.OneIn(3) ? INT64_MAX : random.Between(0, 12);
      const std::string limited = cap ? StrCat(" CAP ", *cap) : "";
      // Boundaries of the window more often than chance would have it.
      const int64_t late[] = {window, window - 1, window + 1, random.Between(0, 9'000), -300};
      const int64_t at = random.OneIn(3) ? now - late[random.Below(5)] : now;
      REQUIRE(h.Run(StrCat("HITS.ADD ", key, " ", window, "ms COUNT ", n, limited, " AT ",
                           Instant(at))) == own.Add(n, window, at, now, cap));
    } else if (kind < 16) {
      const uint64_t n = random.Below(4);
      REQUIRE(h.Run(StrCat("HITS.UNDO ", key, " ", n)) == own.Undo(n, now));
    } else {
      own.Expire(now);
      const int64_t window = windows[random.Below(4)];
      const int64_t at = now - random.Between(-2'000, 2'000);
      const int64_t gone_through = own.GoneThrough(now);
      REQUIRE(h.Run(StrCat("HITS.COUNT ", key)) ==
              StrCat(":", own.In(own.window, now, gone_through)));
      REQUIRE(h.Run(StrCat("HITS.COUNT ", key, " WINDOW ", window, "ms AT ", Instant(at))) ==
              StrCat(":", own.In(window, std::min(at, now), gone_through)));
      REQUIRE(h.Run(StrCat("EXISTS ", key)) == (own.hits.empty() ? ":0" : ":1"));
    }
    for (std::string& line : h.Effects()) effects.push_back(std::move(line));
    if (step % 2'000 != 1'999) continue;
    CommandHarness copy;
    ReplayInto(copy, effects, now + 10'000'000);
    copy.state.clock.Set(now);
    for (const auto& [name, unused] : model) {
      for (const std::string& question : {StrCat("HITS.COUNT ", name), StrCat("PTTL ", name),
                                          StrCat("HITS.RANGE ", name, " FROM ", kBeginS - 10,
                                                 " TO ", now / 1000 + 10, " STEP 100ms")}) {
        if (now - CommandHarness::kBegin > 9'000'000) continue;
        REQUIRE(copy.Run(question) == h.Run(question));
      }
      REQUIRE(copy.Run(StrCat("HITS.ADD ", name, " 7s")) ==
              h.Run(StrCat("HITS.ADD ", name, " 7s")));
      model[name].Add(1, 7'000, now, now, std::nullopt);
    }
    for (std::string& line : h.Effects()) effects.push_back(std::move(line));
  }
}

}  // namespace tally::server::hits_commands_test
