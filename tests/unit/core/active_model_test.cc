// An audience against a naive one that keeps every event: in several time zones, with late events,
// long silences, and a clock that is set forward and back.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/active/active_set.h"
#include "core/tzdata/tzdata_zones.h"
#include "random_seed.h"

namespace tally::active_model_test {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;

ZoneSource& Zones() {
  static TzdataZones zones;
  return zones;
}

class NaiveAudience {
 public:
  explicit NaiveAudience(const ActiveOptions& options) : options_(options), zone_(options.zone) {}

  int64_t latest() const { return latest_; }
  // Whether the clock was set back to what has been deleted. Of that only the ids are known.
  bool HasDeleted(int64_t now) {
    return first_minute_ > now / kMinute || first_day_ > zone_.DayOf(now);
  }

  uint32_t Touch(const std::string& id, int64_t at, int64_t now, int64_t forget_at) {
    at = std::min(at, now);
    if (latest_ > now) SetBack(now);
    if (at > latest_) {
      for (const int64_t begin : Begins(latest_, at))
        evaluations_.push_back({begin, Online(begin)});
      latest_ = at;
      const int64_t kept = std::min(at, forget_at) - options_.keep_ms;
      first_day_ = std::max(first_day_, zone_.DayOf(kept));
      first_minute_ = std::max(first_minute_, kept / kMinute);
    }
    numbers_.emplace(id, numbers_.size() + 1);
    events_[id].push_back(at);
    evaluations_.push_back({latest_, Online(latest_)});
    return Online(now);
  }

  // What happened until now was seen through the old window.
  void Alter(int64_t window_ms, int64_t keep_ms, int64_t now, int64_t forget_at) {
    if (latest_ > now) SetBack(now);
    for (const int64_t begin : Begins(latest_, now)) evaluations_.push_back({begin, Online(begin)});
    latest_ = now;
    options_.window_ms = window_ms;
    options_.keep_ms = keep_ms;
    const int64_t kept = std::min(now, forget_at) - keep_ms;
    first_day_ = std::max(first_day_, zone_.DayOf(kept));
    first_minute_ = std::max(first_minute_, kept / kMinute);
    evaluations_.push_back({latest_, Online(latest_)});
  }

  uint32_t Online(int64_t at) const {
    uint32_t online = 0;
    for (const auto& [id, seen] : events_) {
      online += *std::max_element(seen.begin(), seen.end()) > at - options_.window_ms;
    }
    return online;
  }

  std::set<std::string> Active(int32_t day, int64_t now) {
    std::set<std::string> active;
    if (!IsShown(day, now)) return active;
    for (const auto& [id, seen] : events_) {
      const auto on_day = [&](int64_t at) { return zone_.DayOf(std::min(at, now)) == day; };
      if (std::any_of(seen.begin(), seen.end(), on_day)) active.insert(id);
    }
    return active;
  }
  int64_t Fresh(int32_t day, int64_t now) {
    int64_t fresh = 0;
    if (!IsShown(day, now)) return fresh;
    for (const auto& [id, seen] : events_) {
      const int64_t first = *std::min_element(seen.begin(), seen.end());
      fresh += zone_.DayOf(std::min(first, now)) == day;
    }
    return fresh;
  }
  std::pair<uint32_t, int64_t> Peak(int32_t day, int64_t now) {
    std::pair<uint32_t, int64_t> peak{0, 0};
    if (!IsShown(day, now)) return peak;
    const auto note = [&](int64_t at, uint32_t online) {
      if (zone_.DayOf(at) != day || online == 0) return;
      if (online > peak.first || (online == peak.first && at < peak.second)) peak = {online, at};
    };
    for (const auto& [at, online] : evaluations_) note(std::min(at, now), online);
    for (const int64_t begin : Begins(latest_, now)) note(begin, Online(begin));
    return peak;
  }
  uint32_t MostIn(int64_t begin, int64_t end, int64_t now) {
    uint32_t most = 0;
    const int64_t first =
        std::max(first_minute_, (std::min(latest_, now) - options_.keep_ms) / kMinute);
    const auto note = [&](int64_t at, uint32_t online) {
      const int64_t minute = at / kMinute;
      const bool is_in = minute >= begin / kMinute && minute < (end + kMinute - 1) / kMinute;
      if (is_in) most = std::max(most, online);
    };
    for (const auto& [at, online] : evaluations_) {
      if (at / kMinute >= first) note(std::min(at, now), online);
    }
    for (const int64_t at : Begins(latest_, now)) {
      if (at % kMinute == 0) note(at, Online(at));
    }
    return most;
  }
  std::pair<int64_t, int64_t> Seen(const std::string& id, int64_t now) const {
    const std::vector<int64_t>& seen = events_.at(id);
    return {std::min(*std::min_element(seen.begin(), seen.end()), now),
            std::min(*std::max_element(seen.begin(), seen.end()), now)};
  }
  const std::map<std::string, size_t>& numbers() const { return numbers_; }
  int32_t DayOf(int64_t at) { return zone_.DayOf(at); }

 private:
  struct Evaluation {
    int64_t at;
    uint32_t online;
  };

  void SetBack(int64_t now) {
    for (auto& [id, seen] : events_) {
      for (int64_t& at : seen) at = std::min(at, now);
    }
    for (Evaluation& one : evaluations_) one.at = std::min(one.at, now);
    latest_ = now;
    first_day_ = std::min(first_day_, zone_.DayOf(now));
  }
  // Where minutes and days begin in (from, to], as long as anybody is online.
  std::vector<int64_t> Begins(int64_t from, int64_t to) {
    std::vector<int64_t> begins;
    if (events_.empty()) return begins;
    for (int64_t at = from;;) {
      const int64_t minute = (at / kMinute + 1) * kMinute;
      at = std::min(minute, zone_.Containing(at, CalendarUnit::kDay).end_ms);
      if (at > to || Online(at) == 0) return begins;
      begins.push_back(at);
    }
  }
  bool IsShown(int32_t day, int64_t now) {
    return day >= first_day_ && day <= zone_.DayOf(now) &&
           day >= zone_.DayOf(std::min(latest_, now) - options_.keep_ms);
  }

  ActiveOptions options_;
  Zone zone_;
  std::map<std::string, size_t> numbers_;
  std::map<std::string, std::vector<int64_t>> events_;
  std::vector<Evaluation> evaluations_;
  int64_t latest_ = 0;
  int32_t first_day_ = INT32_MIN;
  int64_t first_minute_ = 0;
};

std::unique_ptr<ActiveSet> Reloaded(const ActiveSet& set) {
  auto loaded = std::make_unique<ActiveSet>(7, Zones());
  for (uint64_t cursor = 0;;) {
    std::string run;
    cursor = set.Save(cursor, 64, run);
    REQUIRE(loaded->Load(run));
    if (cursor == 0) return loaded;
  }
}

void CompareDays(ActiveSet& set, NaiveAudience& naive, int32_t from, int32_t to, int64_t now) {
  std::set<std::string> users;
  const auto days = set.Days(from, to, now);
  for (int32_t day = from; day <= to; ++day) {
    INFO("day " << FormatDate(day));
    const ActiveSet::DayFigures& figures = days[static_cast<size_t>(day - from)];
    const std::set<std::string> active = naive.Active(day, now);
    users.insert(active.begin(), active.end());
    REQUIRE(figures.active == active.size());
    REQUIRE(figures.fresh == naive.Fresh(day, now));
    REQUIRE(std::pair(figures.peak, figures.peak_at_ms) == naive.Peak(day, now));
  }
  REQUIRE(set.UsersBetween(from, to, now) == users.size());
}

void CompareSeries(ActiveSet& set, NaiveAudience& naive, int32_t day, int64_t now) {
  const Period period = DayPeriod(day, set.options().zone.time_zone());
  if (period.start_ms == period.end_ms) return;
  constexpr int64_t kStep = 30 * kMinute;
  uint32_t most = 0;
  for (const auto& [at, online] : set.Series(period.start_ms, period.end_ms, kStep, now)) {
    INFO("step at " << at);
    REQUIRE(online == naive.MostIn(at, std::min(period.end_ms, at + kStep), now));
    most = std::max(most, online);
  }
  // A day that does not begin with a minute shares that minute with the day before.
  if (period.start_ms % kMinute == 0) REQUIRE(set.DayOf(day, now).peak >= most);
}

// The instants of one run: `forget_at` is as a server gives it.
class JumpingClock {
 public:
  JumpingClock(test::SeededRandom& random, int64_t now) : now_(now), random_(random) {}

  void Step(int64_t window_ms) {
    if (lag_ms_ > 0 && random_.OneIn(4)) {
      now_ -= lag_ms_;
      lag_ms_ = 0;
    } else if (lag_ms_ == 0 && random_.OneIn(40)) {
      const int64_t far[] = {61 * kMinute, 20 * kHour, 40 * kDay, 400 * kDay};
      lag_ms_ = far[random_.Below(4)];
      now_ += lag_ms_;
    } else if (lag_ms_ == 0 && random_.OneIn(30)) {
      const int64_t back[] = {1, 5'000, 10 * kMinute, 20 * kHour};
      now_ -= random_.Between(0, back[random_.Below(4)]);
    } else if (lag_ms_ == 0 && random_.OneIn(10)) {
      now_ += random_.OneIn(2) ? window_ms - random_.Between(0, 1) : random_.Between(0, 30 * kHour);
    } else {
      now_ += random_.Between(0, lag_ms_ > 0 ? 5'000 : window_ms / 10 + 1);
    }
  }
  int64_t now() const { return now_; }
  int64_t forget_at() const { return now_ - lag_ms_; }

 private:
  int64_t now_;
  int64_t lag_ms_ = 0;
  test::SeededRandom& random_;
};

void RunOnce(test::SeededRandom& random, const char* zone, int64_t begin) {
  ActiveOptions options;
  options.window_ms = random.OneIn(2) ? 300'000 : random.Between(1, 40 * kMinute);
  options.keep_ms = 60 * kDay;
  options.zone = *LoadZone(zone);
  auto set = std::make_unique<ActiveSet>(random.Next(), options);
  NaiveAudience naive(options);
  JumpingClock clock(random, begin);
  for (int step = 0; step < 300; ++step) {
    clock.Step(options.window_ms);
    const int64_t now = clock.now();
    INFO(zone << ", window " << options.window_ms << ", step " << step << ", now " << now);
    if (naive.HasDeleted(now)) return;
    if (!random.OneIn(4)) {
      int64_t at = now;
      if (random.OneIn(5)) at -= random.Between(0, 2 * options.window_ms + kDay / 4);
      if (random.OneIn(50)) at += random.Between(0, options.window_ms);
      const std::string id = "id" + std::to_string(random.Below(40));
      const std::string_view ids[] = {id};
      REQUIRE(set->Touch(ids, at, now, clock.forget_at()) ==
              naive.Touch(id, at, now, clock.forget_at()));
    }
    if (random.OneIn(30)) {
      options.window_ms = random.OneIn(3) ? random.Between(1, 40 * kMinute) : 300'000;
      options.keep_ms = random.OneIn(3) ? random.Between(1, 5 * kDay) : 60 * kDay;
      set->Alter(options.window_ms, options.keep_ms, now, clock.forget_at());
      naive.Alter(options.window_ms, options.keep_ms, now, clock.forget_at());
    }
    const int64_t earlier = now - random.Between(0, options.window_ms);
    REQUIRE(set->Online(earlier) == naive.Online(earlier));
    if (step % 20 == 0) {
      const int32_t day = naive.DayOf(now) - static_cast<int32_t>(random.Below(3));
      CompareDays(*set, naive, day - 3, day + 1, now);
      CompareSeries(*set, naive, day, now);
    }
    if (step % 50 == 30) set = random.OneIn(2) ? Reloaded(*set) : set->Clone();
  }
  for (const auto& [id, number] : naive.numbers()) {
    const auto seen = set->Seen(id, clock.now());
    REQUIRE(seen.has_value());
    REQUIRE(seen->number == number);
    REQUIRE(std::pair(seen->first_seen_ms, seen->last_seen_ms) == naive.Seen(id, clock.now()));
  }
}

TEST_CASE("ACTIVE agrees with a list of all events, whatever the clocks do") {
  test::SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  RunOnce(random, "UTC", 1'775'200'000'000);
  RunOnce(random, "Australia/Lord_Howe", 1'775'200'000'000);
  RunOnce(random, "Europe/Berlin", 1'774'700'000'000);
  RunOnce(random, "Asia/Kathmandu", 1'775'200'000'000);
  RunOnce(random, "Pacific/Apia", 1'325'100'000'000);  // 30 December 2011 did not exist
  RunOnce(random, "Africa/Monrovia", 50'000'000'000);  // 44 minutes and 30 seconds behind
}

}  // namespace
}  // namespace tally::active_model_test
