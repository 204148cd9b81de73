// HITS, LIMIT, POLICY and ACTIVE on a server that crashes, stops, starts at a later time and
// rewrites its log, against a server that does none of this: every reply is the same.
#include <memory>
#include <string>
#include <string_view>

#include "core/bytes/str_cat.h"
#include "random_seed.h"
#include "tests/unit/server/command_harness.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::natives_restart_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;

constexpr std::string_view kRules[] = {"FIXED 5 10s",
                                       "FIXED 9 2m",
                                       "SLIDING 5 7s",
                                       "SLIDING 400 1h",
                                       "ROLLING 6 9s",
                                       "BUCKET 4 3 5s",
                                       "CALENDAR 7 minute TZ Asia/Kathmandu",
                                       "CALENDAR 900 week WEEKSTART sunday",
                                       "BASE 3 2 8s TZ America/New_York",
                                       "POLICY p",
                                       "ALLOW"};

class Pair {
 public:
  explicit Pair(SeededRandom& random) : random_(random) {
    Start();
    plain_.PassTo(now_ms_);
    Both("POLICY.SET p SLIDING 4 20s");
    Both("ACTIVE.CREATE a0 WINDOW 90s TZ Australia/Lord_Howe KEEP 3d");
    // Too large to stand in its key's record.
    for (int i = 0; i < 400; ++i) {
      Both(StrCat("HITS.ADD h0 1d AT ", Instant(now_ms_ - i * 977)));
      Both(StrCat("LIMIT.FORCE l0 SLIDING 1 1h AT ", Instant(now_ms_ - i * 977)));
    }
  }

  void Step() {
    if (random_.OneIn(2)) {
      now_ms_ += random_.Between(0, random_.OneIn(30) ? 90'000'000 : 3'000);
      SetClocks();
    }
    if (random_.OneIn(40)) return Disturb();
    Both(random_.OneIn(3) ? Question() : Change());
  }

  void Compare() {
    for (int key = 0; key < 3; ++key) {
      Both(StrCat("HITS.COUNT h", key));
      Both(StrCat("HITS.RANGE h", key, " FROM ", Instant(now_ms_ - 100'000), " TO ",
                  Instant(now_ms_ + 9'000), " STEP 100ms"));
      Both(StrCat("ACTIVE.DAY a", key, " DAYS 5"));
      Both(StrCat("ACTIVE.SCAN a", key, " 0 COUNT 100"));
      for (const std::string_view rule : kRules) {
        Both(StrCat("LIMIT.PEEK l", key, " ", rule, " COST 0"));
      }
      Both(StrCat("LIMIT.HELD l", key));
      for (const char type : {'h', 'l', 'a'}) {
        Both(StrCat("PTTL ", std::string_view(&type, 1), key));
        Both(StrCat("TYPE ", std::string_view(&type, 1), key));
      }
    }
    Both("POLICY.GET p");
  }

  int restarts() const { return restarts_; }

 private:
  static std::string Instant(int64_t ms) {
    return StrCat(ms / 1000, ".", std::to_string(1000 + ms % 1000).substr(1));
  }
  std::string At() {
    if (!random_.OneIn(3)) return "";
    return StrCat(" AT ", Instant(now_ms_ - random_.Between(-3'000, 14'000)));
  }
  std::string Key(char type) { return StrCat(std::string_view(&type, 1), random_.Below(3)); }
  std::string_view Rule() { return kRules[random_.Below(std::size(kRules))]; }
  std::string Id() { return StrCat("id", random_.Below(50)); }

  std::string Touch() {
    const std::string at = At();
    const std::string ids = StrCat(" ", Id(), " ", Id());
    if (at.empty()) return StrCat("ACTIVE.TOUCH ", Key('a'), ids);
    return StrCat("ACTIVE.TOUCHAT ", Key('a'), at.substr(3), ids);
  }

  std::string Reservation() {
    const std::string id = StrCat(" r", random_.Below(9), " ");
    switch (random_.Below(7)) {
      case 0:
        return StrCat("LIMIT.CANCEL", id, Key('l'));
      case 1:
        return StrCat("LIMIT.EXTEND", id, 1 + random_.Below(40), "s ", Key('l'), " COST ",
                      random_.Below(3));
      case 2:
      case 3:
        return StrCat("LIMIT.COMMIT", id, Key('l'), random_.OneIn(2) ? " COST 2" : "",
                      random_.OneIn(3) ? " LATE" : "", random_.OneIn(3) ? " KEEP" : "",
                      random_.OneIn(3) ? " FORCE" : "");
      case 4:
        return StrCat("LIMIT.TAKE ", Key('l'), " ", Rule(), " ONCE", id, At());
      default:
        return StrCat("LIMIT.RESERVE", id, 1 + random_.Below(40), "s ", Key('l'), " ", Rule(),
                      random_.OneIn(3) ? " CONCURRENT 9" : "", " COST ", 1 + random_.Below(3),
                      At());
    }
  }

  std::string Change() {
    if (random_.OneIn(4)) return Reservation();
    switch (random_.Below(16)) {
      case 0:
        return StrCat("HITS.UNDO ", Key('h'), " ", random_.Below(4));
      case 1:
        return StrCat("LIMIT.GIVE ", Key('l'), " ", random_.Below(4), At());
      case 2:
        return StrCat("POLICY.SET p FIXED ", random_.Below(9), " ", 1 + random_.Below(20), "s");
      case 3:
        return StrCat("ACTIVE.FORGET ", Key('a'), " ", Id());
      case 4:
        return StrCat("CL.THROTTLE ", Key('l'), " 5 10 20 ", random_.Below(3));
      case 5:
        return random_.OneIn(5) ? StrCat("LIMIT.RESET ", Key('l')) : StrCat("DEL ", Key('h'));
      case 6:
        return random_.OneIn(2) ? StrCat("COPY ", Key('a'), " a2 REPLACE")
                                : StrCat("COPY ", Key('l'), " l2 REPLACE");
      case 7:
      case 8:
      case 9:
        return StrCat("HITS.ADD ", Key('h'), " ", 1 + random_.Below(30), "s COUNT ",
                      random_.Below(4), " CAP ", random_.Below(500), At());
      case 10:
      case 11:
      case 12:
        return Touch();
      default:
        return StrCat(random_.OneIn(4) ? "LIMIT.FORCE " : "LIMIT.TAKE ", Key('l'), " ", Rule(), " ",
                      Rule(), " AND ", Key('l'), " ", Rule(), " COST ", random_.Below(4), At());
    }
  }

  std::string Question() {
    switch (random_.Below(4)) {
      case 0:
        return StrCat("HITS.COUNT ", Key('h'), " WINDOW ", 1 + random_.Below(30), "s", At());
      case 1:
        return StrCat("LIMIT.PEEK ", Key('l'), " ", Rule(), " COST ", random_.Below(4), At());
      case 2:
        return StrCat("ACTIVE.ONLINE ", Key('a'), At());
      default:
        return StrCat("ACTIVE.SEEN ", Key('a'), " ", Id());
    }
  }

  void Both(const std::string& line) {
    INFO(line);
    REQUIRE(server_->Run(line) == plain_.Run(line));
  }

  void SetClocks() {
    server_->SetClock(now_ms_);
    plain_.PassTo(now_ms_);
  }

  void Start() { server_ = std::make_unique<DurableServer>(files_, Config(), now_ms_); }

  void Disturb() {
    switch (random_.Below(3)) {
      case 0:
        if (!server_->rewriting()) server_->Run("BGREWRITEAOF");
        return;
      case 1:
        return server_->Reload();
      default:
        break;
    }
    ++restarts_;
    if (random_.OneIn(2)) server_->Close();
    server_ = nullptr;
    files_.Restart(
        random_.OneIn(2) ? FakeFileSystem::Loss::kProcessOnly : FakeFileSystem::Loss::kDrop,
        random_);
    // The log is read a long time after it was written.
    const int64_t stood_ms = random_.OneIn(4) ? 90'000'000 : random_.Between(0, 20'000);
    now_ms_ += stood_ms;
    plain_.PassTo(now_ms_);
    Start();
  }

  SeededRandom& random_;
  FakeFileSystem files_;
  int64_t now_ms_ = 1'760'000'000'000;
  std::unique_ptr<DurableServer> server_;
  CommandHarness plain_;
  int restarts_ = 0;
};

TEST_CASE("HITS, LIMIT and ACTIVE answer the same, whatever becomes of the server") {
  SeededRandom random;
  INFO("seed " << random.seed());
  int restarts = 0;
  for (int run = 0; run < 2; ++run) {
    Pair pair(random);
    for (int step = 0; step < 1'200; ++step) {
      pair.Step();
      if (step % 60 == 0) pair.Compare();
    }
    restarts += pair.restarts();
  }
  REQUIRE(restarts > 0);
}

}  // namespace
}  // namespace tally::server::natives_restart_test
