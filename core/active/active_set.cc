#include "core/active/active_set.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

void CheckOptions(const ActiveOptions& options) {
  Check(options.window_ms > 0 && options.window_ms <= ActiveOptions::kMaxWindowMs,
        "a window is above 0 and bounded");
  Check(options.keep_ms > 0 && options.keep_ms <= ActiveOptions::kMaxKeepMs,
        "days are kept for a bounded time");
}

}  // namespace

ActiveSet::ActiveSet(uint64_t seed, ActiveOptions options)
    : seed_(seed), options_(std::move(options)), ids_(seed) {
  CheckOptions(options_);
}

void ActiveSet::AdvanceTo(int64_t at_ms, int64_t forget_at_ms) {
  NoteDayBegins(at_ms);
  const int64_t first_kept_ms =
      std::max<int64_t>(0, std::min(at_ms, forget_at_ms) - options_.keep_ms);
  // Between events, online only falls. So what a minute without events begins with is its most.
  for (int64_t minute = std::max(latest_ms_ / kMinuteMs + 1, first_kept_ms / kMinuteMs);
       online_.count() > 0 && minute * kMinuteMs <= at_ms; ++minute) {
    online_.Advance(minute * kMinuteMs - options_.window_ms);
    days_.NoteOnline(minute, online_.count());
  }
  online_.Advance(at_ms - options_.window_ms);
  latest_ms_ = at_ms;
  days_.KeepMinutesFrom(first_kept_ms / kMinuteMs);
  // If the zone is missing, nobody knows which day is the first to be kept.
  if (!options_.zone.is_missing()) days_.KeepFrom(options_.zone.DayOf(first_kept_ms));
}

void ActiveSet::NoteDayBegins(int64_t at_ms) {
  if (online_.count() == 0) return;
  Zone& zone = options_.zone;
  OnlineWindow::Falling falling(online_);
  for (int64_t begin_ms = zone.Containing(latest_ms_, CalendarUnit::kDay).end_ms; begin_ms <= at_ms;
       begin_ms = zone.Containing(begin_ms, CalendarUnit::kDay).end_ms) {
    const uint32_t online = falling.CountAfter(begin_ms - options_.window_ms);
    if (online == 0) return;
    NotePeak(begin_ms, online);
  }
}

void ActiveSet::SetBack(int64_t now_ms) {
  Zone& zone = options_.zone;
  const Period today = zone.Containing(now_ms, CalendarUnit::kDay);
  ActiveDays::Day* lost = nullptr;
  // If the zone is missing, nobody knows which day is today.
  if (!zone.is_missing()) {
    const int32_t number = zone.DayOf(now_ms);
    const bool dropped = number < days_.first_day();
    days_.SetDaysBack(number, now_ms);
    if (dropped) {
      lost = days_.Kept(number);
      lost->fresh = 0;  // counted again below
    }
  }
  days_.SetMinutesBack(now_ms / kMinuteMs);
  online_ = OnlineWindow();
  online_.Advance(now_ms - options_.window_ms);
  for (uint32_t number = 1; number <= ids_.last_number(); ++number) {
    if (forgotten_.contains(number)) continue;
    const Sighting seen = SightingOf(number);
    const int64_t last_ms = std::min(seen.last_seen_ms, now_ms);
    const int64_t first_ms = std::min(seen.first_seen_ms, now_ms);
    if (last_ms != seen.last_seen_ms) {
      BeforeChange(number);
      last_seen_.Set(number, last_ms);
      if (first_ms != seen.first_seen_ms) first_seen_.Set(number, first_ms);
    }
    online_.Add(last_ms);
    if (lost == nullptr) continue;
    // Of a day that was dropped while the clock ran ahead, this much is known from the ids.
    if (today.Contains(last_ms)) lost->active.add(number);
    if (today.Contains(first_ms)) lost->AddFresh(1);
  }
  latest_ms_ = now_ms;
}

uint32_t ActiveSet::Touch(std::span<const std::string_view> ids, int64_t at_ms, int64_t now_ms,
                          int64_t forget_at_ms) {
  at_ms = std::min(at_ms, now_ms);
  if (IsAhead(now_ms)) [[unlikely]]
    SetBack(now_ms);
  if (at_ms > latest_ms_) AdvanceTo(at_ms, forget_at_ms);
  const int32_t day = options_.zone.DayOf(at_ms);
  for (const std::string_view id : ids) {
    if (const uint32_t number = ids_.Find(id)) {
      TouchKnown(number, at_ms, day);
    } else {
      TouchNew(id, at_ms, day);
    }
  }
  NoteOnline();
  return Online(now_ms);
}

void ActiveSet::Alter(int64_t window_ms, int64_t keep_ms, int64_t now_ms, int64_t forget_at_ms) {
  if (latest_ms_ > now_ms) [[unlikely]]
    SetBack(now_ms);
  // A longer time holds for what has not been deleted yet.
  options_.keep_ms = keep_ms;
  AdvanceTo(now_ms, forget_at_ms);
  const bool is_longer = window_ms > options_.window_ms;
  options_.window_ms = window_ms;
  CheckOptions(options_);
  if (is_longer) {
    FillWindow();
  } else {
    online_.Advance(latest_ms_ - window_ms);
  }
  NoteOnline();
}

void ActiveSet::FillWindow() {
  online_ = OnlineWindow();
  online_.Advance(latest_ms_ - options_.window_ms);
  for (uint32_t number = 1; number <= ids_.last_number(); ++number) {
    if (!forgotten_.contains(number)) online_.Add(last_seen_.Get(number));
  }
}

void ActiveSet::TouchNew(std::string_view id, int64_t at_ms, int32_t day_number) {
  const uint32_t number = ids_.Add(id);
  last_seen_.Append(at_ms);
  first_seen_.Append(at_ms);
  online_.Add(at_ms);
  if (ActiveDays::Day* day = days_.Kept(day_number)) {
    day->active.add(number);
    day->AddFresh(1);
  }
}

void ActiveSet::TouchKnown(uint32_t number, int64_t at_ms, int32_t day_number) {
  const int64_t last_ms = last_seen_.Get(number);
  // The id was almost always seen on the same day already; then the day has it.
  if (!options_.zone.Containing(at_ms, CalendarUnit::kDay).Contains(last_ms)) {
    if (ActiveDays::Day* day = days_.Kept(day_number)) day->active.add(number);
  }
  if (at_ms > last_ms) {
    BeforeChange(number);
    online_.Remove(last_ms);
    online_.Add(at_ms);
    last_seen_.Set(number, at_ms);
    return;
  }
  const int64_t first_ms = first_seen_.Get(number);
  if (at_ms >= first_ms) return;
  BeforeChange(number);
  first_seen_.Set(number, at_ms);
  const int32_t first_day = options_.zone.DayOf(first_ms);
  if (first_day == day_number) return;
  if (ActiveDays::Day* day = days_.Kept(first_day)) day->RemoveFresh();
  if (ActiveDays::Day* day = days_.Kept(day_number)) day->AddFresh(1);
}

void ActiveSet::NoteOnline() {
  days_.NoteOnline(latest_ms_ / kMinuteMs, online_.count());
  NotePeak(latest_ms_, online_.count());
}

void ActiveSet::NotePeak(int64_t at_ms, uint32_t online) {
  if (online == 0) return;
  if (ActiveDays::Day* day = days_.Kept(options_.zone.DayOf(at_ms))) day->NotePeak(online, at_ms);
}

uint32_t ActiveSet::Online(int64_t at_ms) const {
  const int64_t after_ms = at_ms - options_.window_ms;
  if (after_ms >= online_.start_ms()) return online_.CountAfter(after_ms);
  uint32_t online = 0;
  for (uint32_t number = 1; number <= ids_.last_number(); ++number) {
    if (last_seen_.Get(number) > after_ms && !forgotten_.contains(number)) ++online;
  }
  return online;
}

std::optional<ActiveSet::Sighting> ActiveSet::Seen(std::string_view id, int64_t now_ms) const {
  const uint32_t number = ids_.Find(id);
  if (number == 0) return std::nullopt;
  Sighting seen = SightingOf(number);
  seen.last_seen_ms = std::min(seen.last_seen_ms, now_ms);
  seen.first_seen_ms = std::min(seen.first_seen_ms, now_ms);
  return seen;
}

int64_t ActiveSet::FirstMinuteShown(int64_t now_ms) const {
  return std::max<int64_t>(0, std::min(latest_ms_, now_ms) - options_.keep_ms) / kMinuteMs;
}

int32_t ActiveSet::FirstDayShown(int64_t now_ms) {
  return DayNumber(std::max<int64_t>(0, std::min(latest_ms_, now_ms) - options_.keep_ms));
}

uint64_t ActiveSet::UsersBetween(int32_t from, int32_t to, int64_t now_ms) {
  const int32_t today = DayNumber(now_ms);
  if (from > today) return 0;
  // What is known of later days counts as of today.
  return days_.UsersBetween(std::max(from, FirstDayShown(now_ms)), to < today ? to : INT32_MAX);
}

std::vector<ActiveSet::DayFigures> ActiveSet::Days(int32_t from, int32_t to, int64_t now_ms) {
  const int32_t first_shown = FirstDayShown(now_ms);
  const int32_t today = DayNumber(now_ms);
  const int32_t evaluated = DayNumber(latest_ms_);
  OnlineWindow::Falling falling(online_);
  std::vector<DayFigures> days;
  for (int32_t number = from; number <= to; ++number) {
    DayFigures& figures = days.emplace_back();
    if (number < first_shown || number > today) continue;
    const int32_t last = number < today ? number : INT32_MAX;
    figures.active = days_.UsersBetween(number, last);
    days_.ForEach(number, last, [&](const ActiveDays::Day& day) {
      figures.fresh += day.fresh;
      if (day.peak <= figures.peak) return;
      figures.peak = day.peak;
      figures.peak_at_ms = std::min(day.peak_at_ms, now_ms);
    });
    if (number <= evaluated) continue;
    // No event has come since the day began.
    const Period day = DayPeriod(number, options_.zone.time_zone());
    if (day.start_ms == day.end_ms) continue;
    figures.peak = falling.CountAfter(day.start_ms - options_.window_ms);
    figures.peak_at_ms = figures.peak > 0 ? day.start_ms : 0;
  }
  return days;
}

std::vector<std::pair<int64_t, uint32_t>> ActiveSet::Series(int64_t from_ms, int64_t to_ms,
                                                            int64_t step_ms, int64_t now_ms) const {
  Check(step_ms > 0 && step_ms % kMinuteMs == 0, "a step is whole minutes");
  from_ms -= from_ms % kMinuteMs;
  const int64_t steps = std::max<int64_t>(0, (to_ms - from_ms + step_ms - 1) / step_ms);
  // A minute that begins before `from` and reaches into the range may need one step more.
  Check(static_cast<size_t>(steps) <= kMaxSeriesSteps + 1, "the caller limits the steps");
  std::vector<std::pair<int64_t, uint32_t>> series;
  OnlineWindow::Falling falling(online_);
  bool falling_ended = false;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t begin_ms = from_ms + i * step_ms;
    const int64_t end_ms = std::min(to_ms, begin_ms + step_ms);
    uint32_t most = 0;
    if (begin_ms <= now_ms) {
      // What was noted after now, by a clock that was set back since, counts as of now.
      int64_t last = (end_ms + kMinuteMs - 1) / kMinuteMs;
      if (last > now_ms / kMinuteMs) last = INT64_MAX;
      most = days_.MostBetween(std::max(begin_ms / kMinuteMs, FirstMinuteShown(now_ms)), last);
    }
    // After the last evaluation online only falls. So the most of the minutes after it, within a
    // step, is at the beginning of the first of them.
    const int64_t inherited_ms = std::max(begin_ms, (latest_ms_ / kMinuteMs + 1) * kMinuteMs);
    if (!falling_ended && inherited_ms < end_ms && inherited_ms <= now_ms) {
      const uint32_t online = falling.CountAfter(inherited_ms - options_.window_ms);
      falling_ended = online == 0;
      most = std::max(most, online);
    }
    series.emplace_back(begin_ms, most);
  }
  return series;
}

bool ActiveSet::Forget(std::string_view id) {
  const uint32_t number = ids_.Find(id);
  if (number == 0) return false;
  const Sighting sighting = SightingOf(number);
  if (snapshot_ != nullptr) {
    snapshot_->BeforeForget(number, ids_.IdOf(number),
                            {sighting.last_seen_ms, sighting.first_seen_ms});
  }
  online_.Remove(sighting.last_seen_ms);
  ids_.Forget(number);
  forgotten_.add(number);
  return true;
}

size_t ActiveSet::MemoryBytes() const {
  return HeapBytes(sizeof(*this)) + ids_.MemoryBytes() + last_seen_.MemoryBytes() +
         first_seen_.MemoryBytes() + forgotten_.getSizeInBytes(true) + online_.MemoryBytes() +
         days_.MemoryBytes();
}

std::unique_ptr<ActiveSet> ActiveSet::Clone() const {
  return std::unique_ptr<ActiveSet>(new ActiveSet(*this));
}

// Does not copy the snapshot, which belongs to the original.
ActiveSet::ActiveSet(const ActiveSet& other)
    : seed_(other.seed_),
      zones_(other.zones_),
      options_(other.options_),
      ids_(other.ids_),
      last_seen_(other.last_seen_),
      first_seen_(other.first_seen_),
      forgotten_(other.forgotten_),
      online_(other.online_),
      days_(other.days_),
      latest_ms_(other.latest_ms_) {}

bool ActiveSet::FreeSome(size_t budget) {
  const bool ids = ids_.FreeSome(budget);
  const bool last = last_seen_.FreeSome(budget);
  const bool first = first_seen_.FreeSome(budget);
  return days_.FreeSome() && ids && last && first;
}

}  // namespace tally
