#include "core/limit/holds.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <queue>
#include <utility>

#include "core/base/check.h"
#include "core/base/saturating.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {
namespace {

HoldRecord Decoded(std::string_view bytes) {
  HoldRecord record;
  Check(ReadHoldRecord(bytes, record), "a record of the table is well formed");
  return record;
}

}  // namespace

// The hash needs a seed that clients cannot know, and addresses differ from run to run.
Holds::Holds() : table_(reinterpret_cast<uintptr_t>(this), this) {}

Holds::~Holds() = default;

void Holds::OnSplit(Segment& from, Segment& into) {
  static_cast<void>(from);
  due_.Add(into);
}

void Holds::NoteAdded(const HoldRecord& record) {
  if (record.state != HoldState::kHeld) {
    ends_at_ms_ = std::max(ends_at_ms_, record.until_ms);
    return;
  }
  for (const bool shadow : {false, true}) {
    const int64_t cost = record.counters.is_concurrent(shadow) ? record.cost() : 0;
    if (cost == 0) continue;
    Concurrent& all = concurrent_[shadow];
    all.held = SaturatingAdd(all.held, cost);
    if (all.latest_ms != Concurrent::kUnknown)
      all.latest_ms = std::max(all.latest_ms, record.until_ms);
  }
  ends_at_ms_ = std::max(ends_at_ms_, RememberedUntil(record.until_ms));
  last_token_ = std::max(last_token_, record.token);  // what is loaded may have any
  for (const HoldPart& part : record.parts)
    latest_at_ms_ = std::max(latest_at_ms_, part.latest_at_ms());
}

void Holds::NoteGone(std::string_view bytes) {
  if (!IsHeld(bytes) || (concurrent(false) == 0 && concurrent(true) == 0)) return;
  const HoldView hold(bytes);
  HoldCountersReader counters;
  NoteEnded(counters.Of(hold.rules()), hold);
}

void Holds::NoteEnded(const HoldCounters& counters, const HoldView& hold) {
  for (const bool shadow : {false, true}) {
    if (!counters.is_concurrent(shadow)) continue;
    Concurrent& all = concurrent_[shadow];
    all.held = SaturatingSub(all.held, hold.cost());
    if (hold.deadline_ms() >= all.latest_ms) all.latest_ms = Concurrent::kUnknown;
    if (all.held == 0) all.latest_ms = 0;
  }
}

int64_t Holds::LatestConcurrent(bool shadow) const {
  const Concurrent& all = concurrent_[shadow];
  if (all.held == 0) return 0;
  // Not to be exact whenever the last is known: the same state answers the same after a load.
  if (size() > kMostSearched) return ends_at_ms_ - kRememberedMs;
  if (all.latest_ms != Concurrent::kUnknown) return all.latest_ms;
  all.latest_ms = 0;
  ForEachHeld([&](const HoldView& hold, const HoldCountersReader& rules) {
    if (hold.cost() > 0 && rules.last().is_concurrent(shadow)) {
      all.latest_ms = std::max(all.latest_ms, hold.deadline_ms());
    }
  });
  return all.latest_ms;
}

bool Holds::Find(std::string_view id, HoldCountersReader& counters, HoldRecord& record) const {
  const RecordTable::Record found = table_.Find(id);
  if (found) ReadStoredHold(found.payload(), counters, record);
  return static_cast<bool>(found);
}

void Holds::Store(const RecordTable::Record& place, const HoldRecord& record,
                  std::string_view bytes) {
  std::memcpy(place.data(), bytes.data(), bytes.size());
  Segment& segment = place.segment();
  due_.Note(segment, record.until_ms);
  // Holds that are settled become smaller.
  if (segment.dead_bytes() * 8 > segment.bytes()) table_.Pack(segment);
}

void Holds::Add(std::string_view id, const HoldRecord& record, std::string_view bytes) {
  NoteAdded(record);
  Store(table_.Insert(id, bytes.size()), record, bytes);
}

void Holds::Add(std::string_view id, const HoldRecord& record) {
  Add(id, record, HoldBytes(record).view());
}

void Holds::Put(std::string_view id, const HoldRecord& record) {
  const RecordTable::Record place = table_.Find(id);
  if (!place) return Add(id, record);
  const HoldBytes bytes(record);
  NoteGone(place.payload());
  NoteAdded(record);
  Store(table_.Resize(place, bytes.view().size()), record, bytes.view());
}

void Holds::Erase(std::string_view id) {
  const RecordTable::Record found = table_.Find(id);
  if (!found) return;
  NoteGone(found.payload());
  table_.Erase(found);
}

bool Holds::End(int64_t now_ms, VisitHold visit) {
  bool any = false;
  HoldCountersReader counters;
  while (Segment* segment = due_.First(now_ms)) {
    int64_t next_ms = Segment::kNothingDue;
    table_.EraseIf(*segment, [&](const RecordTable::Record& record) {
      int64_t until_ms = UntilOf(record.payload());
      if (until_ms <= now_ms) {
        any = true;
        if (!IsHeld(record.payload())) return true;
        const HoldView hold(record.payload(), until_ms);
        NoteEnded(counters.Of(hold.rules()), hold);
        visit(hold, counters);
        Expire(record.data());
        until_ms = RememberedUntil(until_ms);
        if (until_ms <= now_ms) return true;
      }
      next_ms = std::min(next_ms, until_ms);
      return false;
    });
    due_.Schedule(*segment, next_ms);
  }
  return any;
}

void Holds::ForEachEnded(int64_t now_ms, VisitHold visit) const {
  HoldCountersReader counters;
  DueSegments::Position position;
  for (const Segment* segment = due_.Next(position);
       segment != nullptr && segment->due_ms <= now_ms; segment = due_.Next(position)) {
    table_.ForEach(*segment, [&](const RecordTable::Record& record) {
      if (!IsHeld(record.payload())) return;
      const int64_t deadline_ms = UntilOf(record.payload());
      if (deadline_ms > now_ms) return;
      const HoldView hold(record.payload(), deadline_ms);
      static_cast<void>(counters.Of(hold.rules()));
      visit(hold, counters);
    });
  }
}

void Holds::ForEachHeld(VisitHold visit) const {
  HoldCountersReader counters;
  table_.ForEach([&](const RecordTable::Record& record) {
    if (!IsHeld(record.payload())) return;
    const HoldView hold(record.payload());
    static_cast<void>(counters.Of(hold.rules()));
    visit(hold, counters);
  });
}

void Holds::ForEachRecord(
    absl::FunctionRef<void(std::string_view id, std::string_view record)> visit) const {
  table_.ForEach([&](const RecordTable::Record& record) { visit(record.key(), record.payload()); });
}

std::vector<HoldView> Holds::FirstToEnd(int64_t now_ms, size_t most) const {
  using Entry = std::pair<int64_t, std::string_view>;  // the deadline, and the record's bytes
  std::priority_queue<Entry> first;                    // the last of them on top
  DueSegments::Position position;
  while (const Segment* segment = due_.Next(position)) {
    if (first.size() == most && segment->due_ms > first.top().first) break;
    table_.ForEach(*segment, [&](const RecordTable::Record& record) {
      if (!IsHeld(record.payload())) return;
      const int64_t until_ms = UntilOf(record.payload());
      if (until_ms <= now_ms || (first.size() == most && until_ms >= first.top().first)) return;
      if (first.size() == most) first.pop();
      first.emplace(until_ms, record.payload());
    });
  }
  std::vector<HoldView> holds;
  holds.reserve(first.size());
  for (; !first.empty(); first.pop()) holds.emplace_back(first.top().second);
  std::reverse(holds.begin(), holds.end());
  return holds;
}

void Holds::ForEach(
    absl::FunctionRef<void(std::string_view id, const HoldRecord& record)> visit) const {
  table_.ForEach(
      [&](const RecordTable::Record& record) { visit(record.key(), Decoded(record.payload())); });
}

std::vector<std::string> Holds::AheadOf(int64_t now_ms) const {
  std::vector<std::string> ids;
  ForEach([&](std::string_view id, const HoldRecord& record) {
    const bool ahead = std::ranges::any_of(
        record.parts, [now_ms](const HoldPart& part) { return part.latest_at_ms() > now_ms; });
    if (ahead) ids.emplace_back(id);
  });
  std::sort(ids.begin(), ids.end());
  return ids;
}

void Holds::NoteSetBack(int64_t now_ms) {
  latest_at_ms_ = now_ms;
  ends_at_ms_ = 0;
  ForEach([this](std::string_view, const HoldRecord& record) {
    const bool is_held = record.state == HoldState::kHeld;
    ends_at_ms_ =
        std::max(ends_at_ms_, is_held ? RememberedUntil(record.until_ms) : record.until_ms);
  });
}

// A run is the last token, and then each id and its record after their lengths; an id of no bytes
// ends it.
uint64_t Holds::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  constexpr size_t kFew = 32;
  AppendVarint(out, static_cast<uint64_t>(last_token_));
  const size_t begin = out.size();
  const auto append = [&out](const RecordTable::Record& record) {
    AppendVarint(out, record.key().size());
    out += record.key();
    AppendVarint(out, record.size());
    out += record.payload();
  };
  if (size() <= kFew && cursor == 0) {
    // Few are saved in an order that does not depend on the hash.
    std::vector<RecordTable::Record> records;
    table_.ForEach([&](const RecordTable::Record& record) { records.push_back(record); });
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.key() < b.key(); });
    for (const RecordTable::Record& record : records) append(record);
  } else {
    do {
      cursor = table_.Scan(cursor, kFew, append);
    } while (cursor != 0 && out.size() - begin < max_bytes);
  }
  AppendVarint(out, 0);
  return cursor;
}

bool Holds::Load(std::string_view& in) {
  uint64_t token = 0;
  if (!ReadVarint(in, token) || token > kMaxHoldToken) return false;
  last_token_ = std::max(last_token_, static_cast<int64_t>(token));
  while (true) {
    uint64_t size = 0;
    if (!ReadVarint(in, size) || size > std::min<uint64_t>(kMaxIdBytes, in.size())) return false;
    if (size == 0) return true;
    const std::string_view id = in.substr(0, size);
    in.remove_prefix(size);
    if (!ReadVarint(in, size) || size > in.size()) return false;
    HoldRecord record;
    const std::string_view bytes = in.substr(0, size);
    if (!ReadHoldRecord(bytes, record)) return false;
    in.remove_prefix(size);
    // An id that comes twice replaces the first.
    Erase(id);
    Add(id, record, bytes);
  }
}

std::unique_ptr<Holds> Holds::Clone() const {
  auto copy = std::make_unique<Holds>();
  table_.ForEach([&](const RecordTable::Record& record) {
    copy->Add(record.key(), Decoded(record.payload()), record.payload());
  });
  copy->last_token_ = last_token_;
  copy->concurrent_ = concurrent_;
  copy->latest_at_ms_ = latest_at_ms_;
  copy->ends_at_ms_ = ends_at_ms_;
  return copy;
}

size_t Holds::MemoryBytes() const { return HeapBytes(sizeof(*this)) + table_.MemoryBytes(); }

bool Holds::FreeSome(size_t budget) {
  due_.Clear();
  return table_.FreeSome(budget / 64 + 1);
}

}  // namespace tally
