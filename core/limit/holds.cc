#include "core/limit/holds.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <queue>
#include <tuple>
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

void Holds::Account(const HoldRecord& record, int sign) {
  if (record.state != HoldState::kHeld) {
    if (sign > 0) ends_at_ = std::max(ends_at_, record.until);
    return;
  }
  HoldCounters counters;
  Check(ReadHoldCounters(record.rules, counters), "the rules of a record are well formed");
  const auto add = [&](int64_t& sum) {
    sum = sign > 0 ? SaturatingAdd(sum, record.cost()) : SaturatingSub(sum, record.cost());
  };
  if (counters.concurrent) add(concurrent_);
  if (counters.shadow_concurrent) add(shadow_concurrent_);
  if (sign < 0) return;
  ends_at_ = std::max(ends_at_, std::min(record.until + kRememberedMs, kMaxHoldEndMs));
  for (const HoldPart& part : record.parts) latest_at_ = std::max(latest_at_, part.at);
}

std::optional<HoldRecord> Holds::Find(std::string_view id) const {
  const RecordTable::Record found = table_.Find(id);
  if (!found) return std::nullopt;
  return Decoded(found.payload());
}

void Holds::PutBytes(std::string_view id, std::string_view bytes) {
  const uint64_t hash = table_.Hash(id);
  RecordTable::Record place = table_.Find(id, hash);
  place = place ? table_.Resize(place, bytes.size()) : table_.Insert(id, hash, bytes.size());
  std::memcpy(place.data(), bytes.data(), bytes.size());
  Segment& segment = table_.SegmentFor(hash);
  due_.Note(segment, UntilOf(bytes));
  // Holds that are settled become smaller.
  if (segment.dead_bytes() * 8 > segment.bytes()) table_.Pack(segment);
}

void Holds::Put(std::string_view id, const HoldRecord& record) {
  if (const RecordTable::Record old = table_.Find(id)) Account(Decoded(old.payload()), -1);
  Account(record, 1);
  std::string bytes;
  AppendHoldRecord(bytes, record);
  PutBytes(id, bytes);
}

void Holds::Erase(std::string_view id) {
  const RecordTable::Record found = table_.Find(id);
  if (!found) return;
  Account(Decoded(found.payload()), -1);
  table_.Erase(found);
}

std::vector<Holds::Named> Holds::TakeEnded(int64_t now) {
  std::vector<Named> ended;
  while (Segment* segment = due_.First(now)) {
    int64_t next = Segment::kNothingDue;
    std::vector<std::string> ids;
    table_.ForEach(*segment, [&](const RecordTable::Record& record) {
      const int64_t until = UntilOf(record.payload());
      if (until > now) {
        next = std::min(next, until);
      } else {
        ended.push_back({std::string(record.key()), Decoded(record.payload())});
        ids.emplace_back(record.key());
      }
    });
    due_.Schedule(*segment, next);
    for (const std::string& id : ids) Erase(id);
  }
  std::sort(ended.begin(), ended.end(), [](const Named& a, const Named& b) {
    return std::tie(a.record.until, a.record.token, a.id) <
           std::tie(b.record.until, b.record.token, b.id);
  });
  return ended;
}

void Holds::ForEach(
    absl::FunctionRef<void(std::string_view id, const HoldRecord& record)> visit) const {
  table_.ForEach(
      [&](const RecordTable::Record& record) { visit(record.key(), Decoded(record.payload())); });
}

void Holds::ForEachByDeadline(absl::FunctionRef<bool(const HoldRecord& record)> visit) const {
  using Entry = std::pair<int64_t, std::string_view>;  // the deadline, and the record's bytes
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
  DueSegments::Position position;
  const Segment* segment = due_.Next(position);
  while (segment != nullptr || !waiting.empty()) {
    if (segment != nullptr && (waiting.empty() || segment->due <= waiting.top().first)) {
      table_.ForEach(*segment, [&](const RecordTable::Record& record) {
        waiting.emplace(UntilOf(record.payload()), record.payload());
      });
      segment = due_.Next(position);
      continue;
    }
    const HoldRecord record = Decoded(waiting.top().second);
    waiting.pop();
    if (record.state == HoldState::kHeld && !visit(record)) return;
  }
}

std::vector<std::string> Holds::AheadOf(int64_t now) const {
  std::vector<std::string> ids;
  ForEach([&](std::string_view id, const HoldRecord& record) {
    const bool ahead = std::any_of(record.parts.begin(), record.parts.end(),
                                   [now](const HoldPart& part) { return part.at > now; });
    if (ahead) ids.emplace_back(id);
  });
  std::sort(ids.begin(), ids.end());
  return ids;
}

void Holds::NoteSetBack(int64_t now) {
  latest_at_ = now;
  ends_at_ = 0;
  ForEach([this](std::string_view, const HoldRecord& record) {
    const int64_t remembered_ms = record.state == HoldState::kHeld ? kRememberedMs : 0;
    ends_at_ = std::max(ends_at_, std::min(record.until + remembered_ms, kMaxHoldEndMs));
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
  if (!ReadVarint(in, token) || token > kMaxHoldEndMs / 2) return false;
  last_token_ = std::max(last_token_, static_cast<int64_t>(token));
  while (true) {
    uint64_t size = 0;
    if (!ReadVarint(in, size) || size > std::min<uint64_t>(kMaxIdBytes, in.size())) return false;
    if (size == 0) return true;
    const std::string_view id = in.substr(0, size);
    in.remove_prefix(size);
    if (!ReadVarint(in, size) || size > in.size()) return false;
    HoldRecord record;
    if (!ReadHoldRecord(in.substr(0, size), record)) return false;
    in.remove_prefix(size);
    Put(id, record);
  }
}

std::unique_ptr<Holds> Holds::Clone() const {
  auto copy = std::make_unique<Holds>();
  table_.ForEach(
      [&](const RecordTable::Record& record) { copy->PutBytes(record.key(), record.payload()); });
  copy->last_token_ = last_token_;
  copy->concurrent_ = concurrent_;
  copy->shadow_concurrent_ = shadow_concurrent_;
  copy->latest_at_ = latest_at_;
  copy->ends_at_ = ends_at_;
  return copy;
}

size_t Holds::MemoryBytes() const { return HeapBytes(sizeof(*this)) + table_.MemoryBytes(); }

bool Holds::FreeSome(size_t budget) {
  due_.Clear();
  return table_.FreeSome(budget / 64 + 1);
}

}  // namespace tally
