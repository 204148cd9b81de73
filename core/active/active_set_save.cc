// The saved form of an active set: a run with the head, then runs with the ids and their instants
// in the order of the numbers, then runs with days and minutes. Who is online is not saved: it
// follows from the instants.
#include <algorithm>
#include <utility>

#include "core/active/active_set.h"
#include "core/base/check.h"
#include "core/bytes/run_sink.h"
#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {
namespace {

constexpr char kHeadRun = 'h';
constexpr char kIdsRun = 'i';
constexpr char kDaysRun = 'd';

// The top two bits of a cursor are its stage, 1 for ids and 2 for days; the rest is the cursor
// within that stage.
constexpr int kStageShift = 62;
constexpr uint64_t kIdsStage = uint64_t{1} << kStageShift;
constexpr uint64_t kDaysStage = uint64_t{2} << kStageShift;
constexpr uint64_t kWithinStage = kIdsStage - 1;

bool ReadInstant(std::string_view& in, int64_t& at_ms) {
  uint64_t value = 0;
  if (!ReadVarint(in, value) || value > kMaxInstantMs) return false;
  at_ms = static_cast<int64_t>(value);
  return true;
}

}  // namespace

void ActiveSet::SaveHead(std::string& out) const {
  out.push_back(kHeadRun);
  AppendVarint(out, static_cast<uint64_t>(options_.window_ms));
  AppendVarint(out, static_cast<uint64_t>(options_.keep_ms));
  AppendLengthPrefixed(out, options_.zone.name());
  AppendVarint(out, static_cast<uint64_t>(latest_ms_));
  AppendSignedVarint(out, days_.first_day());
}

uint32_t ActiveSet::SaveIds(uint32_t after, size_t max_bytes, const ActiveSnapshot* snapshot,
                            std::string& out) const {
  const size_t begin = out.size();
  const uint32_t last = snapshot != nullptr ? snapshot->last_number : ids_.last_number();
  out.push_back(kIdsRun);
  AppendVarint(out, after);
  uint32_t number = after;
  while (number < last && out.size() - begin < max_bytes) {
    ++number;
    const std::string* id = snapshot != nullptr ? snapshot->ForgottenId(number) : nullptr;
    const bool forgotten = id == nullptr && forgotten_.contains(number);
    out.push_back(forgotten ? 1 : 0);
    if (forgotten) continue;
    AppendLengthPrefixed(out, id != nullptr ? std::string_view(*id) : ids_.IdOf(number));
    ActiveSnapshot::Seen seen{last_seen_.Get(number), first_seen_.Get(number)};
    if (snapshot != nullptr) seen = snapshot->SeenOf(number, seen);
    AppendVarint(out, static_cast<uint64_t>(seen.first_ms));
    AppendVarint(out, static_cast<uint64_t>(seen.last_ms - seen.first_ms));
  }
  return number;
}

uint64_t ActiveSet::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  return Save(cursor, max_bytes, nullptr, out);
}

uint64_t ActiveSet::Save(uint64_t cursor, size_t max_bytes, const ActiveSnapshot* snapshot,
                         std::string& out) const {
  if (cursor == 0) {
    SaveHead(out);
    return kIdsStage;
  }
  const uint64_t within = cursor & kWithinStage;
  if ((cursor & ~kWithinStage) == kIdsStage) {
    const uint32_t last = snapshot != nullptr ? snapshot->last_number : ids_.last_number();
    const uint32_t number = SaveIds(static_cast<uint32_t>(within), max_bytes, snapshot, out);
    return number < last ? kIdsStage | number : kDaysStage;
  }
  out.push_back(kDaysRun);
  const uint64_t next = (snapshot != nullptr ? snapshot->days : days_).Save(within, max_bytes, out);
  return next == 0 ? 0 : kDaysStage | next;
}

bool ActiveSet::BeginSnapshot(const RunSink& sink) {
  snapshot_ = std::make_unique<ActiveSnapshot>(sink, days_, ids_.last_number());
  return SaveSnapshot();
}

bool ActiveSet::SaveSnapshot() {
  if (snapshot_ == nullptr) return false;
  std::string run;
  snapshot_->cursor = Save(snapshot_->cursor, kRunBytes, snapshot_.get(), run);
  snapshot_->sink(run);
  if (snapshot_->cursor == 0) {
    snapshot_ = nullptr;
    return false;
  }
  const bool in_ids = (snapshot_->cursor & ~kWithinStage) == kIdsStage;
  snapshot_->saved_number =
      in_ids ? static_cast<uint32_t>(snapshot_->cursor & kWithinStage) : snapshot_->last_number;
  return true;
}

bool ActiveSet::LoadHead(std::string_view& run) {
  std::string_view name;
  if (!ReadInstant(run, options_.window_ms) || !ReadInstant(run, options_.keep_ms)) return false;
  if (options_.window_ms == 0 || options_.window_ms > ActiveOptions::kMaxWindowMs) return false;
  if (options_.keep_ms == 0 || options_.keep_ms > ActiveOptions::kMaxKeepMs) return false;
  if (!ReadLengthPrefixed(run, name)) return false;
  Check(zones_ != nullptr, "a set that runs are loaded into has a source of zones");
  const Zone* zone = zones_->FindStored(name);
  if (zone == nullptr) return false;
  options_.zone = *zone;
  int64_t first_day = 0;
  if (!ReadInstant(run, latest_ms_) || !ReadSignedVarint(run, first_day)) return false;
  if (first_day < INT32_MIN || first_day > INT32_MAX) return false;
  online_.Advance(latest_ms_ - options_.window_ms);
  days_.KeepFrom(static_cast<int32_t>(first_day));
  return true;
}

bool ActiveSet::LoadIds(std::string_view& run) {
  uint64_t after = 0;
  if (!ReadVarint(run, after) || after != ids_.last_number()) return false;
  while (!run.empty()) {
    const bool forgotten = run.front() != 0;
    run.remove_prefix(1);
    if (forgotten) {
      ids_.SkipNumber();
      forgotten_.add(ids_.last_number());
      last_seen_.Append(latest_ms_);
      first_seen_.Append(latest_ms_);
      continue;
    }
    std::string_view id;
    int64_t first_ms = 0;
    int64_t between_ms = 0;
    if (!ReadLengthPrefixed(run, id) || id.size() > IdBook::kMaxIdBytes) return false;
    if (!ReadInstant(run, first_ms) || !ReadInstant(run, between_ms)) return false;
    if (between_ms > latest_ms_ - first_ms || ids_.Find(id) != 0) return false;
    ids_.Add(id);
    first_seen_.Append(first_ms);
    last_seen_.Append(first_ms + between_ms);
    online_.Add(first_ms + between_ms);
  }
  return true;
}

bool ActiveSet::Load(std::string_view run) {
  if (run.empty()) return false;
  const char kind = run.front();
  run.remove_prefix(1);
  switch (kind) {
    case kHeadRun:
      return !std::exchange(has_head_, true) && LoadHead(run) && run.empty();
    case kIdsRun:
      return has_head_ && LoadIds(run);
    case kDaysRun:
      return has_head_ && days_.Load(run, ids_.last_number(), latest_ms_ / kMinuteMs);
    default:
      return false;
  }
}

}  // namespace tally
