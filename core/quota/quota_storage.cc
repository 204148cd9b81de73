// A QuotaBook as bytes: memory, expiry, freeing, copying, snapshots.
//
// A run of a snapshot is a byte that tells its kind, then
//   header  signed varints: format, the minimal retention, the recording order's three, then for
//           each entry of what is gone its recorded_ms and horizon_ms
//   limits  for each SKU: signed varint, length-prefixed limit block
//   users   for each user: signed varint, length-prefixed purchase block
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "core/quota/entity_key.h"
#include "core/quota/quota_book.h"

namespace tally {
namespace {

enum RunKind : char { kHeaderRun = 'H', kLimitsRun = 'L', kUsersRun = 'U' };

constexpr int64_t kFormat = 1;

// A cursor is the table in its top bits and the table's own cursor below.
constexpr int kTableShift = 48;
constexpr uint64_t kTableCursorMask = (uint64_t{1} << kTableShift) - 1;
constexpr uint64_t kInLimits = uint64_t{1} << kTableShift;
constexpr uint64_t kInUsers = uint64_t{2} << kTableShift;

// A run of a cut is passed on when it has this many.
constexpr size_t kRunBytes = 64 * 1024;

// Records read from the table at a time: a scan looks at all of a segment, so few is wasteful.
constexpr size_t kScanRecords = 256;

void AppendRecord(const RecordTable::Record& record, std::string& run) {
  AppendSignedVarint(run, EntityKey::IdOf(record.key()));
  AppendLengthPrefixed(run, record.payload());
}

// Gives the run to the sink, if there is more in it than its kind, and leaves the kind.
void PassOn(std::string& run, const QuotaBook::RunSink& sink) {
  if (run.size() > 1) sink(run);
  run.resize(1);
}

// Appends records until about `max_bytes` are there; returns the table's next cursor.
uint64_t SaveRecords(const RecordTable& table, uint64_t cursor, size_t max_bytes,
                     std::string& out) {
  const size_t end = out.size() + max_bytes;
  do {
    cursor = table.Scan(cursor, kScanRecords,
                        [&](const RecordTable::Record& record) { AppendRecord(record, out); });
  } while (cursor != 0 && out.size() < end);
  return cursor;
}

// Puts the records of a run, all of them absent, into the table, and shows each to `note`, which is
// false for a malformed block. Some at a time, so that their cache misses overlap. False if the run
// is malformed.
template <typename Note>
bool InsertRecords(std::string_view run, RecordTable& table, Note&& note) {
  struct Arrival {
    EntityKey key;
    uint64_t hash;
    std::string_view block;
  };
  constexpr size_t kAtOnce = 16;
  absl::InlinedVector<Arrival, kAtOnce> arrivals;
  while (!run.empty()) {
    arrivals.clear();
    while (arrivals.size() < kAtOnce && !run.empty()) {
      int64_t id = 0;
      std::string_view block;
      if (!ReadSignedVarint(run, id) || !ReadLengthPrefixed(run, block)) return false;
      const EntityKey key(id);
      arrivals.push_back({key, table.Hash(key.view()), block});
      table.PrefetchSegment(arrivals.back().hash);
    }
    for (const Arrival& arrival : arrivals) table.PrefetchInsertion(arrival.hash);
    for (const auto& [key, hash, block] : arrivals) {
      if (table.Find(key.view(), hash)) return false;
      const RecordTable::Record record = table.Insert(key.view(), hash, block.size());
      std::memcpy(record.data(), block.data(), block.size());
      if (!note(record)) return false;
    }
  }
  return true;
}

void CopyRecords(const RecordTable& from, RecordTable& to) {
  uint64_t position = 0;
  while (RecordTable::Segment* segment = from.NextSegment(position)) {
    from.ForEach(*segment, [&](const RecordTable::Record& record) {
      const RecordTable::Record copy = to.Insert(record.key(), record.size());
      std::memcpy(copy.data(), record.data(), record.size());
      copy.segment().due = std::min(copy.segment().due, segment->due);
    });
  }
}

}  // namespace

QuotaBook::Stats QuotaBook::stats() const {
  return {limit_count_, users_.size(), purchase_count_, MemoryBytes()};
}

size_t QuotaBook::MemoryBytes() const {
  return sizeof(*this) + limits_.MemoryBytes() + users_.MemoryBytes() + retention_.MemoryBytes();
}

size_t QuotaBook::SweepUsers(RecordTable::Segment& segment, int64_t horizon_ms, int64_t now_ms) {
  std::vector<int64_t> users;
  segment.due = RecordTable::Segment::kNothingDue;
  users_.ForEach(segment, [&](const RecordTable::Record& record) {
    bool some_gone = false;
    for (PurchaseReader reader(record.payload()); reader.Next();) {
      if (retention_.Keeps(reader.line(), horizon_ms)) {
        segment.due = std::min(segment.due, reader.line().ts_ms);
      } else {
        some_gone = true;
      }
    }
    if (some_gone) users.push_back(EntityKey::IdOf(record.key()));
  });
  const size_t before = purchase_count_;
  for (const int64_t user : users) Store(Open(user, now_ms));
  return before - purchase_count_;
}

size_t QuotaBook::ExpireSome(int64_t now_ms, size_t budget) {
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  const int64_t widest_horizon_ms = retention_.WidestHorizon(now_ms);
  size_t freed = 0;
  while (budget > 0) {
    const RecordTable& table = sweeping_limits_ ? limits_ : users_;
    RecordTable::Segment* segment = table.NextSegment(sweep_position_);
    if (segment == nullptr) {
      sweep_position_ = 0;
      sweeping_limits_ = !sweeping_limits_;
      if (!sweeping_limits_) break;
      continue;
    }
    // A segment in which nothing is due costs one, however many it holds.
    const bool is_due = segment->due <= (sweeping_limits_ ? horizon_ms : widest_horizon_ms);
    budget -= std::min(budget, 1 + (is_due ? segment->size() : 0));
    if (!is_due) continue;
    if (sweeping_limits_) {
      SweepLimits(*segment, horizon_ms);
    } else {
      freed += SweepUsers(*segment, horizon_ms, now_ms);
    }
  }
  return freed;
}

bool QuotaBook::FreeSome(size_t segments) {
  return users_.FreeSome(segments) && limits_.FreeSome(segments);
}

QuotaBook QuotaBook::Clone() const {
  QuotaBook copy(seed_, retention_.minimum_ms());
  CopyRecords(limits_, copy.limits_);
  CopyRecords(users_, copy.users_);
  copy.limit_count_ = limit_count_;
  copy.purchase_count_ = purchase_count_;
  copy.retention_ = retention_;
  copy.recording_ = recording_;
  return copy;
}

void QuotaBook::SaveHeader(std::string& out) const {
  out.push_back(kHeaderRun);
  for (const int64_t value : {kFormat, retention_.minimum_ms(), recording_.latest_cut_ms,
                              recording_.latest_stamp_ms, recording_.latest_future_ms}) {
    AppendSignedVarint(out, value);
  }
  for (const Retention::Gone& gone : retention_.gone()) {
    AppendSignedVarint(out, gone.recorded_ms);
    AppendSignedVarint(out, gone.horizon_ms);
  }
}

uint64_t QuotaBook::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  if (cursor == 0) {
    SaveHeader(out);
    return kInLimits;
  }
  const bool in_limits = cursor < kInUsers;
  out.push_back(in_limits ? kLimitsRun : kUsersRun);
  const uint64_t next =
      SaveRecords(in_limits ? limits_ : users_, cursor & kTableCursorMask, max_bytes, out);
  if (in_limits) return next == 0 ? kInUsers : kInLimits | next;
  return next == 0 ? 0 : kInUsers | next;
}

void QuotaBook::BeginCut(RunSink sink) {
  cut_ = std::make_unique<Cut>(Cut{.sink = std::move(sink),
                                   .epoch = ++cut_epoch_,
                                   .limits = Cut::Part(kLimitsRun),
                                   .users = Cut::Part(kUsersRun),
                                   .run = {}});
  SaveHeader(cut_->run);
  cut_->sink(cut_->run);
}

QuotaBook::Cut::Part& QuotaBook::PartOf(const RecordTable& table) {
  return &table == &users_ ? cut_->users : cut_->limits;
}

void QuotaBook::SaveBeforeChange(const RecordTable& table, uint64_t hash, int64_t id) {
  Cut::Part& part = PartOf(table);
  if (!part.changed.insert(id).second) return;
  const RecordTable::Record record = table.Find(EntityKey(id).view(), hash);
  if (!record) return;  // it was not there when the cut began
  AppendRecord(record, part.run);
  if (part.run.size() >= kRunBytes) PassOn(part.run, cut_->sink);
}

void QuotaBook::SaveSegment(const RecordTable& table, RecordTable::Segment& segment) {
  Cut::Part& part = PartOf(table);
  segment.epoch = cut_->epoch;
  std::string& run = cut_->run;
  run.assign(1, part.run.front());
  table.ForEach(segment, [&](const RecordTable::Record& record) {
    if (part.changed.erase(EntityKey::IdOf(record.key())) > 0) return;
    AppendRecord(record, run);
    if (run.size() >= kRunBytes) PassOn(run, cut_->sink);
  });
  PassOn(run, cut_->sink);
}

bool QuotaBook::SaveCut() {
  while (cut_ != nullptr) {
    const RecordTable& table = cut_->in_users ? users_ : limits_;
    RecordTable::Segment* segment = table.NextSegment(cut_->position);
    if (segment == nullptr) {
      PassOn(PartOf(table).run, cut_->sink);
      if (cut_->in_users) {
        cut_ = nullptr;
      } else {
        cut_->in_users = true;
        cut_->position = 0;
      }
    } else if (segment->epoch < cut_->epoch) {
      SaveSegment(table, *segment);
      return true;
    }
  }
  return false;
}

bool QuotaBook::Load(std::string_view run) {
  if (run.empty()) return false;
  const std::string_view in = run.substr(1);
  switch (run.front()) {
    case kHeaderRun:
      return LoadHeader(in);
    case kLimitsRun:
      return LoadLimits(in);
    case kUsersRun:
      return LoadUsers(in);
    default:
      return false;
  }
}

bool QuotaBook::LoadHeader(std::string_view in) {
  int64_t format = 0;
  if (!ReadSignedVarint(in, format) || format != kFormat) return false;
  int64_t min_retention_ms = 0;
  if (!ReadSignedVarint(in, min_retention_ms) || min_retention_ms <= 0) return false;
  retention_.set_minimum_ms(min_retention_ms);
  if (!ReadSignedVarint(in, recording_.latest_cut_ms) ||
      !ReadSignedVarint(in, recording_.latest_stamp_ms) ||
      !ReadSignedVarint(in, recording_.latest_future_ms)) {
    return false;
  }
  std::vector<Retention::Gone> all_gone;
  while (!in.empty()) {
    Retention::Gone& gone = all_gone.emplace_back();
    if (!ReadSignedVarint(in, gone.recorded_ms) || !ReadSignedVarint(in, gone.horizon_ms)) {
      return false;
    }
  }
  return retention_.set_gone(std::move(all_gone));
}

bool QuotaBook::LoadLimits(std::string_view in) {
  std::vector<LimitEntry> entries;
  return InsertRecords(in, limits_, [&](const RecordTable::Record& record) {
    if (!DecodeLimits(record.payload(), entries)) return false;
    int64_t& due = record.segment().due;
    for (const LimitEntry& entry : entries) {
      if (entry.is_set) {
        retention_.Add(entry.window_ms);
        ++limit_count_;
      }
      if (entry.deletion) due = std::min(due, entry.deletion->until_ms);
    }
    return true;
  });
}

bool QuotaBook::LoadUsers(std::string_view in) {
  UserPurchases with_returns;
  return InsertRecords(in, users_, [&](const RecordTable::Record& record) {
    size_t lines = 0;
    int64_t due = record.segment().due;
    PurchaseReader reader(record.payload());
    for (; reader.Next(); ++lines) due = std::min(due, reader.line().ts_ms);
    if (reader.malformed() || lines == 0) return false;
    purchase_count_ += lines;
    record.segment().due = due;
    return reader.rest().empty() || DecodePurchases(record.payload(), with_returns);
  });
}

}  // namespace tally
