// LIMIT as its description says it, without a thought for speed: what was counted is kept as plain
// numbers by window, and the figures are found by trying.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/limit/limit.h"

namespace tally::test {

__extension__ typedef __int128 NaiveWide;

inline constexpr int64_t kNaiveMax = INT64_MAX;

inline int64_t NaiveSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::min<NaiveWide>(kNaiveMax, NaiveWide{a} + b));
}

// What a key has counted for the rules of one algorithm and period.
class NaiveCounter {
 public:
  explicit NaiveCounter(const LimitRule& rule) : kind_(rule) { kind_.refill = 0; }

  bool IsOf(const LimitRule& rule) const {
    if (rule.algorithm != kind_.algorithm || rule.shadow != kind_.shadow) return false;
    if (rule.zone != kind_.zone) return false;
    if (rule.start != kind_.start) return false;
    if (rule.algorithm == LimitAlgorithm::kCalendar) return rule.unit == kind_.unit;
    if (rule.period_ms != kind_.period_ms || rule.has_grid() != kind_.has_grid()) return false;
    if (!rule.has_grid()) return true;
    return rule.from_ms % rule.period_ms == kind_.from_ms % kind_.period_ms;
  }

  // The latest instant that was counted, as exactly as it is kept.
  int64_t Clock() const {
    switch (kind_.algorithm) {
      case LimitAlgorithm::kBucket:
        return since_;
      case LimitAlgorithm::kFixed:
      case LimitAlgorithm::kRolling:
        return opened_;
      case LimitAlgorithm::kBase:
        return std::max(opened_, day_.start_ms);
      case LimitAlgorithm::kLockout:
        return std::max(opened_, block_.start_ms);
      default:
        return counts_.empty() ? 0 : counts_.rbegin()->first;
    }
  }
  // The instant of judgement.
  int64_t JudgedAt(int64_t at) const { return std::max(at, Clock()); }

  // From when on, by the server's clock, it is as if it had never been.
  int64_t ExpiresAt() const {
    if (kind_.algorithm == LimitAlgorithm::kLockout) {
      const int64_t period_end = PeriodHits() > 0 ? opened_ + kind_.period_ms : 0;
      const int64_t end = std::max(period_end, step_ > 0 ? block_.end_ms + remembered_ms_ : 0);
      return end == 0 ? 0 : end + late_;
    }
    const int64_t unused = UnusedFrom(Clock());
    return unused == Clock() ? 0 : NaiveSum(unused, late_);
  }
  // What a hit finds that arrives at `now`: nothing if it is late and what was counted has expired;
  // nothing after `now`.
  void Meet(int64_t now, int64_t at) {
    if (at < now && ExpiresAt() <= now) *this = NaiveCounter(kind_);
    if (IsAhead(now)) SetBack(now);
  }
  // Whether something was counted at an instant, or arrived at one, that is after `now`.
  bool IsAhead(int64_t now) const { return Clock() > now || (late_ > 0 && Begin() + late_ > now); }
  // Gives those that were counted after `now` the instant `now`.
  void SetBack(int64_t now) {
    late_ = Clock() > now ? 0 : now - Begin();
    if (since_ > now) since_ = now;
    if (opened_ > now) opened_ = OpenedAt(now);
    if (block_.start_ms > now) block_ = {now, now + block_.end_ms - block_.start_ms};
    if (day_.start_ms > now) day_ = DayOf(now);
    std::map<int64_t, int64_t> counts;
    for (const auto& [when, hits] : counts_) {
      int64_t& place = counts[when <= now ? when : WindowOf(now)];
      place = NaiveSum(place, hits);
    }
    counts_ = counts;
  }

  bool Fits(const LimitRule& rule, int64_t cost, int64_t e) const {
    if (Denies(rule)) return false;
    const NaiveWide period = rule.period_ms;
    switch (rule.algorithm) {
      case LimitAlgorithm::kRolling:
        return NaiveWide{Rolling(e)} + cost <= rule.limit;
      case LimitAlgorithm::kBucket:
        return Missing(RateUntil(rule), e) + cost * period <= rule.limit * period;
      case LimitAlgorithm::kBase:
        return BaseFits(rule, cost, e);
      case LimitAlgorithm::kLockout:
        return !IsBlocked(e) && NaiveWide{OpenHits(e)} + cost <= rule.limit;
      default:
        return NaiveWide{Counted(e)} + cost <= rule.limit;
    }
  }

  bool IsDropped(int64_t now, int64_t at) const {
    switch (kind_.algorithm) {
      case LimitAlgorithm::kBucket:
        return false;
      case LimitAlgorithm::kCalendar:
        return CalendarPeriod(at).end_ms <= now;
      case LimitAlgorithm::kBase:
        return at < DayOf(now).start_ms;
      default:
        if (kind_.has_grid()) return OpenedAt(at) + kind_.period_ms <= now;
        return at <= now - kind_.period_ms;
    }
  }

  // Counts hits that arrive at `now` at the instant `at`; no window that is over at `e` gets them.
  void Count(const LimitRule& rule, int64_t cost, int64_t now, int64_t at, int64_t e) {
    const bool had = UnusedFrom(e) > e;
    const int64_t clock = Clock();
    const int64_t opened = opened_;
    const bool remembers = step_ > 0 && e < block_.end_ms + remembered_ms_;
    switch (rule.algorithm) {
      case LimitAlgorithm::kFixed:
        CountInWindow(cost, e, at);
        break;
      case LimitAlgorithm::kLockout:
        CountInLockout(rule, cost, e, at);
        break;
      case LimitAlgorithm::kBase: {
        const int64_t day_hits = InDay(e);
        if (day_hits == 0) day_ = DayOf(e);
        if (InWindow(e) == 0) in_window_ = 0;
        if (at > e - rule.period_ms) CountInWindow(Windowed(rule, day_hits, cost), e, at);
        // A hit that opens no window is one instant all the same.
        if (InWindow(e) == 0) opened_ = at;
        in_day_ = NaiveSum(day_hits, cost);
        break;
      }
      case LimitAlgorithm::kRolling:
        CountInRolling(cost, at, e);
        break;
      case LimitAlgorithm::kBucket:
        CountInBucket(rule, cost, e, at);
        break;
      case LimitAlgorithm::kSliding: {
        Forget(std::max(at, clock));
        int64_t total = 0;
        for (const auto& [when, hits] : counts_) total += hits;
        counts_[at] += std::min(cost, kNaiveMax - total);
        break;
      }
      default: {
        Forget(e);
        int64_t& hits = counts_[WindowOf(at)];
        hits = NaiveSum(hits, cost);
        break;
      }
    }
    // A window that was open already stays as late as it was.
    bool same = had && Clock() == clock && kind_.algorithm != LimitAlgorithm::kSliding &&
                kind_.algorithm != LimitAlgorithm::kBucket;
    if (kind_.algorithm == LimitAlgorithm::kBase) same = had;
    if (kind_.algorithm == LimitAlgorithm::kLockout) same = remembers || (had && opened_ == opened);
    late_ = std::max(same ? late_ : 0, now - std::max(at, Clock()));
    // A new block, or a new day, may have forgotten those that were as late.
    late_ = std::min(late_, now - Begin());
  }

  // The instant up to which hits of LIMIT.FORCE are too late: see IsDropped.
  int64_t Horizon(int64_t now) const { return now - late_; }

  void Give(int64_t n, int64_t now, int64_t not_after) {
    if (ExpiresAt() <= now) *this = NaiveCounter(kind_);
    GiveSome(n, now, not_after);
    if (ExpiresAt() <= now) *this = NaiveCounter(kind_);
  }
  void GiveSome(int64_t n, int64_t now, int64_t not_after) {
    if (not_after >= now) not_after = kNaiveMax;
    switch (kind_.algorithm) {
      case LimitAlgorithm::kBucket:
        missing_ -= std::min(missing_, NaiveWide{n} * kind_.period_ms);
        break;
      case LimitAlgorithm::kRolling:
        if (not_after >= opened_) {
          const int64_t taken = std::min(n, in_window_);
          in_window_ -= taken;
          n -= taken;
        }
        if (not_after >= opened_ - kind_.period_ms) before_ -= std::min(n, before_);
        break;
      case LimitAlgorithm::kLockout:
        if (not_after >= opened_) GiveInLockout(n, now - late_);
        break;
      case LimitAlgorithm::kFixed:
      case LimitAlgorithm::kBase:
        if (not_after >= day_.start_ms) in_day_ -= std::min(n, in_day_);
        if (not_after >= opened_) in_window_ -= std::min(n, in_window_);
        break;
      default:
        for (auto it = counts_.rbegin(); it != counts_.rend() && n > 0; ++it) {
          if (it->first > not_after) continue;
          const int64_t taken = std::min(n, it->second);
          it->second -= taken;
          n -= taken;
        }
        break;
    }
    std::erase_if(counts_, [](const auto& one) { return one.second == 0; });
  }

  // Adds what `more` has and `less` has not.
  void AddDifference(const NaiveCounter& more, const NaiveCounter& less) {
    missing_ += more.missing_ - less.missing_;
    in_window_ += more.in_window_ - less.in_window_;
    in_day_ += more.in_day_ - less.in_day_;
    for (const auto& [at, hits] : more.counts_) counts_[at] += hits;
    for (const auto& [at, hits] : less.counts_) counts_[at] -= hits;
    std::erase_if(counts_, [](const auto& one) { return one.second == 0; });
  }
  bool is_lockout() const { return kind_.algorithm == LimitAlgorithm::kLockout; }

  // Takes back what was counted at the instant `at`, of which `in_window` are in the window of
  // BASE, unless its window is over. BUCKET: `in_window` with those that stay.
  void TakeBack(int64_t hits, int64_t in_window, int64_t at, int64_t now) {
    switch (kind_.algorithm) {
      case LimitAlgorithm::kSliding:
      case LimitAlgorithm::kCalendar: {
        const auto place = counts_.find(WindowOf(at));
        if (place != counts_.end()) place->second -= std::min(hits, place->second);
        break;
      }
      case LimitAlgorithm::kBucket:
        missing_ -= std::min(missing_, TokensBack(hits, in_window, at, now));
        break;
      case LimitAlgorithm::kLockout:
        if (IsInWindow(at)) GiveInLockout(hits, now - late_);
        break;
      case LimitAlgorithm::kBase:
        if (at >= day_.start_ms && at < day_.end_ms) in_day_ -= std::min(hits, in_day_);
        if (IsInWindow(at)) in_window_ -= std::min(in_window, in_window_);
        break;
      default:
        if (IsInWindow(at)) in_window_ -= std::min(hits, in_window_);
        break;
    }
    std::erase_if(counts_, [](const auto& one) { return one.second == 0; });
  }
  int64_t WindowHits(int64_t e) const { return InWindow(e); }

  // From when on the rule, or for one that is given no rule the counter, is wholly unused; `e` if
  // it is at `e`.
  int64_t UnusedFrom(const LimitRule& rule, int64_t e) const {
    const int64_t period = kind_.period_ms;
    switch (kind_.algorithm) {
      case LimitAlgorithm::kFixed:
        return InWindow(e) > 0 ? opened_ + period : e;
      case LimitAlgorithm::kBase:
        return std::max(InWindow(e) > 0 ? opened_ + period : e, InDay(e) > 0 ? day_.end_ms : e);
      case LimitAlgorithm::kLockout:
        if (IsBlocked(e)) return block_.end_ms;
        return OpenHits(e) > 0 ? opened_ + period : e;
      case LimitAlgorithm::kBucket:
        return FirstInstant(e, [&](int64_t t) { return Missing(RateUntil(rule), t) == 0; });
      case LimitAlgorithm::kRolling:
        return FirstInstant(e, [&](int64_t t) { return Rolling(t) == 0; });
      default:
        break;
    }
    int64_t unused = e;
    for (const auto& [when, hits] : counts_) {
      if (hits > 0) unused = std::max(unused, CountsUntil(when));
    }
    return unused;
  }
  int64_t UnusedFrom(int64_t e) const { return UnusedFrom(kind_, e); }

  int64_t EarliestFit(const LimitRule& rule, int64_t cost, int64_t e) const {
    if (rule.algorithm == LimitAlgorithm::kRolling || rule.algorithm == LimitAlgorithm::kBucket) {
      return FirstInstant(e, [&](int64_t t) { return Fits(rule, cost, t); });
    }
    std::set<int64_t> ends;
    for (const auto& [when, hits] : counts_) ends.insert(CountsUntil(when));
    ends.insert({opened_ + kind_.period_ms, day_.end_ms, block_.end_ms});
    for (const int64_t end : ends) {
      if (end > e && Fits(rule, cost, end)) return end;
    }
    return -1;
  }

  // Hits of cost 1 that would still be allowed.
  int64_t Remaining(const LimitRule& rule, int64_t e) const {
    if (!Fits(rule, 1, e)) return 0;
    int64_t fits = 1;
    int64_t step = 1;
    for (; fits <= kNaiveMax - step && Fits(rule, fits + step, e); step *= 2) {
      fits += step;
      if (step > kNaiveMax / 2) break;
    }
    for (; step > 0; step /= 2) {
      if (fits <= kNaiveMax - step && Fits(rule, fits + step, e)) fits += step;
    }
    return fits;
  }

  LimitAlgorithm algorithm() const { return kind_.algorithm; }

  // For LIMIT.SHOW, how much counts and until when: of a BASE's day and its window, of others once.
  std::vector<std::pair<int64_t, int64_t>> Shown(int64_t now) const {
    const int64_t e = now - late_;
    const int64_t ends = NaiveSum(UnusedFrom(e), late_);
    switch (kind_.algorithm) {
      case LimitAlgorithm::kBucket:
        return {{PeriodsUp(Missing(rate_, e)), ends}};
      case LimitAlgorithm::kRolling:
        return {{Rolling(e), ends}};
      case LimitAlgorithm::kBase:
        return {{InDay(e), day_.end_ms + late_}, {InWindow(e), opened_ + kind_.period_ms + late_}};
      case LimitAlgorithm::kLockout:
        if (IsBlocked(e)) return {{step_, block_.end_ms + late_}};
        return {{taken_back_ ? step_ - 1 : step_, block_.end_ms + remembered_ms_ + late_},
                {OpenHits(e), opened_ + kind_.period_ms + late_}};
      default:
        return {{Counted(e), ends}};
    }
  }

 private:
  static bool Denies(const LimitRule& rule) {
    if (rule.algorithm == LimitAlgorithm::kDeny) return true;
    return rule.limit == 0 && (rule.algorithm != LimitAlgorithm::kBase || rule.base == 0);
  }

  // The first instant from `e` on at which something holds that holds from then on.
  template <typename Holds>
  static int64_t FirstInstant(int64_t e, Holds&& holds) {
    if (holds(e)) return e;
    int64_t wait = 1;
    while (!holds(NaiveSum(e, wait))) {
      if (NaiveSum(e, wait) == kNaiveMax) return kNaiveMax;
      wait = NaiveSum(wait, wait);
    }
    int64_t low = wait / 2;
    while (wait - low > 1) {
      const int64_t middle = low + (wait - low) / 2;
      (holds(NaiveSum(e, middle)) ? wait : low) = middle;
    }
    return NaiveSum(e, wait);
  }

  Period CalendarPeriod(int64_t at) const {
    return kind_.zone->Containing(at, kind_.unit, kind_.start);
  }
  Period DayOf(int64_t at) const {
    return kind_.zone->Containing(at, CalendarUnit::kDay, kind_.start);
  }
  // When a window opens that holds `at`: then, or where it is laid.
  int64_t OpenedAt(int64_t at) const {
    if (!kind_.has_grid()) return at;
    int64_t opened = kind_.from_ms % kind_.period_ms;
    opened += (at - opened) / kind_.period_ms * kind_.period_ms;
    return opened > at ? opened - kind_.period_ms : opened;
  }

  bool IsInWindow(int64_t at) const { return at >= opened_ && at < opened_ + kind_.period_ms; }

  // LOCKOUT. The hits of the period that the last block has not ended.
  bool IsBlocked(int64_t e) const { return step_ > 0 && !taken_back_ && e < block_.end_ms; }
  int64_t PeriodHits() const {
    return step_ > 0 && !taken_back_ && opened_ < block_.end_ms ? 0 : in_window_;
  }
  int64_t OpenHits(int64_t e) const { return e < opened_ + kind_.period_ms ? PeriodHits() : 0; }
  void ForgetBlock() {
    step_ = 0;
    block_ = {};
    taken_back_ = false;
  }
  void CountInLockout(const LimitRule& rule, int64_t cost, int64_t e, int64_t at) {
    const int64_t period_hits = PeriodHits();
    // A block that is remembered no more is as if it had never been, for late hits too.
    if (step_ > 0 && e >= block_.end_ms + remembered_ms_) {
      in_window_ = period_hits;
      ForgetBlock();
    }
    if (step_ > 0 && !taken_back_ && at < block_.end_ms) {
      // The hits of a period are gone once its block is over, whatever comes late.
      if (e >= block_.end_ms && PeriodHits() == 0) in_window_ = 0;
      return;
    }
    if (OpenHits(e) == 0) {
      opened_ = at;
      in_window_ = 0;
    }
    in_window_ = NaiveSum(in_window_, cost);
    if (in_window_ < std::min(rule.limit, rule.shared_base)) return;
    const int64_t most = rule.block.most_ms;
    int64_t length = rule.block.first_ms;
    if (step_ == 0 || most == 0 || e >= block_.end_ms + most) {
      step_ = 1;
    } else {
      const int64_t last = block_.end_ms - block_.start_ms;
      NaiveWide longer = last;
      if (!taken_back_) {
        longer = NaiveWide{last} * rule.block.factor;
        longer = longer / 1'000 + (longer % 1'000 > 0 ? 1 : 0);
        ++step_;
      }
      length = static_cast<int64_t>(
          std::max<NaiveWide>(rule.block.first_ms, std::min<NaiveWide>(longer, most)));
    }
    taken_back_ = false;
    block_ = {e, e + length};
    remembered_ms_ = most;
  }
  void GiveInLockout(int64_t n, int64_t e) {
    if (!IsBlocked(e)) {
      if (PeriodHits() > 0) in_window_ -= std::min(n, in_window_);
      return;
    }
    in_window_ -= std::min(n, in_window_);
    taken_back_ = true;
    if (step_ > 1) return;
    ForgetBlock();
  }

  // What counts_ is keyed by: the instant of SLIDING, the window's start of CALENDAR.
  int64_t WindowOf(int64_t at) const {
    return kind_.algorithm == LimitAlgorithm::kCalendar ? CalendarPeriod(at).start_ms : at;
  }
  int64_t CountsUntil(int64_t when) const {
    switch (kind_.algorithm) {
      case LimitAlgorithm::kCalendar:
        return CalendarPeriod(when).end_ms;
      default:
        return when + kind_.period_ms;
    }
  }
  void Forget(int64_t now) {
    std::erase_if(
        counts_, [&](const auto& one) { return one.second == 0 || CountsUntil(one.first) <= now; });
  }

  // FIXED, CALENDAR, SLIDING.
  int64_t Counted(int64_t e) const {
    if (kind_.algorithm == LimitAlgorithm::kFixed) return InWindow(e);
    int64_t counted = 0;
    for (const auto& [when, hits] : counts_) {
      if (CountsUntil(when) > e) counted = NaiveSum(counted, hits);
    }
    return counted;
  }

  // How many of the places 1/of, 2/of … of a period after `from`, up to `last`, are after `e`.
  int64_t PlacesAfter(int64_t e, int64_t from, NaiveWide last, NaiveWide of) const {
    if (e < from) return static_cast<int64_t>(last);
    const NaiveWide passed = NaiveWide{e - from} * of / kind_.period_ms;
    return static_cast<int64_t>(std::max<NaiveWide>(0, last - passed));
  }
  // A window opens with its first hit. While it is open all its hits count, and those from before
  // it leave at even distances; when it is over its first hit leaves, and the others follow so.
  int64_t Rolling(int64_t e) const {
    const int64_t end = opened_ + kind_.period_ms;
    if (e >= end) return in_window_ == 0 ? 0 : PlacesAfter(e, end, in_window_ - 1, in_window_);
    return NaiveSum(in_window_, PlacesAfter(e, opened_, before_, NaiveWide{before_} + 1));
  }
  void CountInRolling(int64_t cost, int64_t at, int64_t e) {
    const bool used = Rolling(e) > 0;
    if (used && at < opened_) {
      before_ = NaiveSum(before_, cost);
      return;
    }
    if (!used || at >= opened_ + kind_.period_ms) {
      before_ = used ? Rolling(at) : 0;
      in_window_ = 0;
      opened_ = at;
    }
    in_window_ = NaiveSum(in_window_, cost);
  }

  // The tokens that a bucket gets back: not those that it may have got by waiting, after those that
  // stay were back.
  NaiveWide TokensBack(int64_t hits, int64_t in_window, int64_t at, int64_t now) const {
    const NaiveWide waited = NaiveWide{rate_} * std::max<int64_t>(0, now - at);
    const NaiveWide stay = NaiveWide{in_window - hits} * kind_.period_ms;
    const NaiveWide twice = waited > stay ? waited - stay : 0;
    return std::max<NaiveWide>(0, NaiveWide{hits} * kind_.period_ms - twice);
  }
  NaiveWide RateUntil(const LimitRule& rule) const { return std::max(rate_, rule.refill); }
  NaiveWide Missing(NaiveWide rate, int64_t e) const {
    return std::max<NaiveWide>(0, missing_ - rate * std::max<int64_t>(0, e - since_));
  }
  void CountInBucket(const LimitRule& rule, int64_t cost, int64_t now, int64_t at) {
    const NaiveWide rate = RateUntil(rule);
    const bool full = Missing(rate, now) == 0;
    const int64_t place = full ? at : std::max(at, since_);
    missing_ = full ? 0 : Missing(rate, place);
    missing_ = std::min<NaiveWide>(kNaiveMax, missing_ + NaiveWide{cost} * rule.period_ms);
    since_ = place;
    if (!full && rate_ != rule.refill) {
      missing_ = Missing(rate, now);
      since_ = now;
    }
    rate_ = rule.refill;
  }

  int64_t Begin() const {
    if (step_ > 0) return std::min(block_.start_ms, opened_);
    const bool has_day = kind_.algorithm == LimitAlgorithm::kBase && in_day_ > 0;
    return has_day ? std::min(day_.start_ms, opened_) : Clock();
  }

  int64_t PeriodsUp(NaiveWide parts) const {
    const NaiveWide up = (parts + kind_.period_ms - 1) / kind_.period_ms;
    return static_cast<int64_t>(std::min<NaiveWide>(kNaiveMax, up));
  }

  int64_t InDay(int64_t e) const { return e < day_.end_ms ? in_day_ : 0; }
  int64_t InWindow(int64_t e) const { return e < opened_ + kind_.period_ms ? in_window_ : 0; }
  void CountInWindow(int64_t cost, int64_t now, int64_t at) {
    if (cost == 0) return;
    if (InWindow(now) == 0) {
      opened_ = OpenedAt(kind_.has_grid() ? now : at);
      in_window_ = 0;
    }
    in_window_ = NaiveSum(in_window_, cost);
  }

  // Of `cost` hits after the first `day_hits`, those from the base-th on.
  static int64_t Windowed(const LimitRule& rule, int64_t day_hits, int64_t cost) {
    const int64_t from = std::min(rule.base, rule.shared_base);
    // The hits with a number of at least `from`, of the numbers day_hits + 1 ... day_hits + cost.
    const NaiveWide first = std::max<NaiveWide>(NaiveWide{day_hits} + 1, from);
    return static_cast<int64_t>(std::max<NaiveWide>(0, NaiveWide{day_hits} + cost - first + 1));
  }
  // Whether the last of them is let through when they come one by one.
  bool BaseFits(const LimitRule& rule, int64_t cost, int64_t e) const {
    const int64_t day_hits = InDay(e);
    if (cost == 0) return day_hits <= rule.base || InWindow(e) <= rule.limit;
    const int64_t ahead = cost - 1;
    return NaiveWide{day_hits} + ahead < rule.base ||
           NaiveWide{InWindow(e)} + Windowed(rule, day_hits, ahead) < rule.limit;
  }

  LimitRule kind_;
  std::map<int64_t, int64_t> counts_;
  int64_t opened_ = 0;
  int64_t in_window_ = 0;
  int64_t before_ = 0;
  int64_t late_ = 0;
  Period day_;
  int64_t in_day_ = 0;
  Period block_;
  int64_t step_ = 0;
  bool taken_back_ = false;
  int64_t remembered_ms_ = 0;
  NaiveWide missing_ = 0;
  int64_t since_ = 0;
  int64_t rate_ = 0;
};

}  // namespace tally::test
