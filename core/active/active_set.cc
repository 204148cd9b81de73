#include "core/active/active_set.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

constexpr int64_t kDayMs = 86'400'000;

}  // namespace

ActiveSet::ActiveSet(uint64_t seed, ActiveOptions options)
    : seed_(seed), options_(std::move(options)), ids_(seed) {}

void ActiveSet::AdvanceTo(int64_t now) {
  if (now <= evaluated_) return;
  // Between events, online only falls. So what a minute without events begins with is its most.
  const int64_t first_kept = (now - options_.keep_ms) / kMinuteMs;
  for (int64_t minute = std::max(evaluated_ / kMinuteMs + 1, first_kept);
       online_.count() > 0 && minute * kMinuteMs <= now; ++minute) {
    online_.Advance(minute * kMinuteMs - options_.window_ms);
    days_.NoteOnline(minute, online_.count());
  }
  online_.Advance(now - options_.window_ms);
  evaluated_ = now;
  KeepDays();
  days_.KeepMinutesFrom(first_kept);
}

void ActiveSet::KeepDays() {
  // If the zone is missing, nobody knows which day is the first to be kept.
  if (options_.zone.is_missing()) return;
  days_.KeepFrom(options_.zone.DayOf(std::max<int64_t>(0, evaluated_ - options_.keep_ms)));
}

uint32_t ActiveSet::Touch(std::span<const std::string_view> ids, int64_t at, int64_t now) {
  latest_ = std::max(latest_, at);
  AdvanceTo(std::min(latest_, now));
  const int32_t day = options_.zone.DayOf(at);
  for (const std::string_view id : ids) {
    if (const uint32_t number = ids_.Find(id)) {
      TouchKnown(number, at, day);
    } else {
      TouchNew(id, at, day);
    }
  }
  NoteOnline();
  return Online(std::max(now, evaluated_));
}

void ActiveSet::TouchNew(std::string_view id, int64_t at, int32_t day_number) {
  const uint32_t number = ids_.Add(id);
  last_seen_.Append(at);
  first_seen_.Append(at);
  online_.Add(at);
  if (ActiveDays::Day* day = days_.Kept(day_number)) {
    day->active.add(number);
    ++day->fresh;
  }
}

void ActiveSet::TouchKnown(uint32_t number, int64_t at, int32_t day_number) {
  const int64_t last = last_seen_.Get(number);
  // The id was almost always seen on the same day already; then the day has it.
  if (!options_.zone.Containing(at, CalendarUnit::kDay).Contains(last)) {
    if (ActiveDays::Day* day = days_.Kept(day_number)) day->active.add(number);
  }
  if (at > last) {
    BeforeChange(number);
    online_.Remove(last);
    online_.Add(at);
    last_seen_.Set(number, at);
    return;
  }
  const int64_t first = first_seen_.Get(number);
  if (at >= first) return;
  BeforeChange(number);
  first_seen_.Set(number, at);
  const int32_t first_day = options_.zone.DayOf(first);
  if (first_day == day_number) return;
  if (ActiveDays::Day* day = days_.Kept(first_day)) --day->fresh;
  if (ActiveDays::Day* day = days_.Kept(day_number)) ++day->fresh;
}

void ActiveSet::NoteOnline() {
  days_.NoteOnline(evaluated_ / kMinuteMs, online_.count());
  if (online_.count() == 0) return;
  ActiveDays::Day* day = days_.Kept(options_.zone.DayOf(evaluated_));
  if (day != nullptr && online_.count() > day->peak) {
    day->peak = online_.count();
    day->peak_at = evaluated_;
  }
}

uint32_t ActiveSet::Online(int64_t at) const {
  const int64_t after = at - options_.window_ms;
  if (after >= online_.start()) return online_.CountAfter(after);
  uint32_t online = 0;
  for (uint32_t number = 1; number <= ids_.last_number(); ++number) {
    if (last_seen_.Get(number) > after && !forgotten_.contains(number)) ++online;
  }
  return online;
}

std::optional<ActiveSet::Sighting> ActiveSet::Seen(std::string_view id) const {
  const uint32_t number = ids_.Find(id);
  if (number == 0) return std::nullopt;
  return SightingOf(number);
}

ActiveSet::DayFigures ActiveSet::DayOf(int32_t number) const {
  const ActiveDays::Day* day = days_.Find(number);
  if (day == nullptr) return {};
  return {day->active.cardinality(), day->fresh, day->peak, day->peak_at};
}

std::vector<std::pair<int64_t, uint32_t>> ActiveSet::Series(int64_t from, int64_t to,
                                                            int64_t step_ms, int64_t now) const {
  Check(step_ms > 0 && step_ms % kMinuteMs == 0, "a step is whole minutes");
  from -= from % kMinuteMs;
  const int64_t steps = std::max<int64_t>(0, (to - from + step_ms - 1) / step_ms);
  // A minute that begins before `from` and reaches into the range may need one step more.
  Check(static_cast<size_t>(steps) <= kMaxSeriesSteps + 1, "the caller limits the steps");
  std::vector<std::pair<int64_t, uint32_t>> series;
  OnlineWindow::Falling falling(online_);
  bool falling_ended = false;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t begin = from + i * step_ms;
    const int64_t end = std::min(to, begin + step_ms);
    uint32_t most = days_.MostBetween(begin / kMinuteMs, (end + kMinuteMs - 1) / kMinuteMs);
    // After the last evaluation online only falls. So the most of the minutes after it, within a
    // step, is at the beginning of the first of them.
    const int64_t inherited = std::max(begin, (evaluated_ / kMinuteMs + 1) * kMinuteMs);
    if (!falling_ended && inherited < end && inherited <= now) {
      const uint32_t online = falling.CountAfter(inherited - options_.window_ms);
      falling_ended = online == 0;
      most = std::max(most, online);
    }
    series.emplace_back(begin, most);
  }
  return series;
}

bool ActiveSet::Forget(std::string_view id) {
  const uint32_t number = ids_.Find(id);
  if (number == 0) return false;
  const Sighting sighting = SightingOf(number);
  if (snapshot_ != nullptr) {
    snapshot_->BeforeForget(number, ids_.IdOf(number), {sighting.last_seen, sighting.first_seen});
  }
  online_.Remove(sighting.last_seen);
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
      latest_(other.latest_),
      evaluated_(other.evaluated_) {}

bool ActiveSet::FreeSome(size_t budget) {
  const bool ids = ids_.FreeSome(budget);
  const bool last = last_seen_.FreeSome(budget);
  const bool first = first_seen_.FreeSome(budget);
  return days_.FreeSome() && ids && last && first;
}

}  // namespace tally
