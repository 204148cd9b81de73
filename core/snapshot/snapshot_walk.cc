#include "core/snapshot/snapshot_walk.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace tally {
namespace {

// At most this many elements of a segment's values are saved at once, which takes a fraction of a
// millisecond.
constexpr size_t kSegmentCost = 4096;
// A value that costs more than this always waits in the queue.
constexpr size_t kMostValueCost = 1024;
// After this many keys of a segment were saved one by one, the next one saves the whole rest of the
// segment: the names of saved keys take memory, and searching for a key among them takes time.
constexpr size_t kMostMarks = 32;
// A segment of more bytes is saved key by key.
constexpr size_t kMostSegmentBytes = size_t{512} << 10;

}  // namespace

SnapshotWalk::SnapshotWalk(Engine& engine, RecordSink& sink, uint64_t epoch)
    : engine_(engine),
      epoch_(2 * epoch),  // listed_epoch() must be higher than that of any walk before, too
      parts_(engine.databases()),
      emitter_(sink),
      values_(engine, emitter_) {
  emitter_.HoldLargeRecords();
  for (size_t i = 0; i < engine.databases(); ++i) {
    Keyspace& database = engine.database(i);
    database.set_epoch(epoch_);
    parts_[i].keyspace = &database;
    part_of_.push_back(i);
    if (database.size() == 0) continue;
    emitter_.KeyCount(i, database.size()).IgnoreError();  // the next call returns the error
  }
  // At once, because nothing saves a policy before it changes.
  emitter_.Policies(engine.policies()).IgnoreError();
}

// Segments keep their epochs and marks. That is harmless: nothing reads them before the next walk
// begins, and its epoch is higher.
SnapshotWalk::~SnapshotWalk() {
  for (size_t i = 0; i < engine_.databases(); ++i) engine_.database(i).set_epoch(0);
}

absl::Status SnapshotWalk::SaveEntry(size_t part, const Keyspace::Entry& entry, size_t& most_cost) {
  ++keys_;
  const size_t cost = SavingCost(entry);
  if (entry.is_heap() && cost > std::min(most_cost, kMostValueCost)) {
    values_.Add(part, entry);
    return absl::OkStatus();
  }
  most_cost -= std::min(cost, most_cost);
  return emitter_.Entry(part, entry);
}

absl::Status SnapshotWalk::Save(size_t part, Keyspace::Segment& segment) {
  Keyspace& keyspace = *parts_[part].keyspace;
  const bool is_large = segment.bytes() > kMostSegmentBytes;
  segment.epoch = is_large ? listed_epoch() : epoch_;
  absl::Status status;
  size_t most_cost = kSegmentCost;
  keyspace.ForEach(segment, [&](const Keyspace::Entry& entry) {
    if (!status.ok() || segment.HasMark(epoch_, entry.key())) return;
    if (is_large) {
      parts_[part].listed.insert(keyspace.Hash(entry.key()));
    } else {
      status = SaveEntry(part, entry, most_cost);
    }
  });
  segment.ClearMarks();
  return status;
}

// A key that changes leaves the list, and no split of its segment changes its hash. So the list
// stays right whatever happens to the keyspace.
absl::Status SnapshotWalk::SaveListed(size_t part, uint64_t hash) {
  if (parts_[part].listed.erase(hash) == 0) return absl::OkStatus();
  absl::Status status;
  size_t most_cost = kSegmentCost;
  parts_[part].keyspace->ForEachWithHash(hash, [&](const Keyspace::Entry& entry) {
    if (status.ok()) status = SaveEntry(part, entry, most_cost);
  });
  return status;
}

absl::StatusOr<bool> SnapshotWalk::SaveNext() {
  if (emitter_.has_held() || !values_.empty()) {
    const absl::Status status = emitter_.has_held() ? emitter_.WriteHeld() : values_.SaveSome();
    return status.ok() ? absl::StatusOr<bool>(true) : status;
  }
  for (size_t next = NextPart(); next != kNoPart; next = NextPart()) {
    Part& part = parts_[next];
    if (!part.listed.empty()) {
      const absl::Status status = SaveListed(next, *part.listed.begin());
      return status.ok() ? absl::StatusOr<bool>(true) : status;
    }
    Keyspace::Segment* segment = part.keyspace->NextSegment(part.position);
    if (segment == nullptr) {
      part.done = true;
      // No value of this part waits in the queue any more.
      if (part.kept != nullptr) --kept_;
      part.kept = nullptr;
      continue;
    }
    if (segment->epoch >= listed_epoch()) continue;
    if (absl::Status status = Save(next, *segment); !status.ok()) return status;
    return true;
  }
  return emitter_.has_held();
}

size_t SnapshotWalk::NextPart() const {
  size_t next = kNoPart;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].done) continue;
    if (kept_ == 0 || parts_[i].kept != nullptr) return i;
    if (next == kNoPart) next = i;
  }
  return next;
}

void SnapshotWalk::BeforeClear(size_t database) {
  const size_t number = std::exchange(part_of_[database], kNoPart);
  if (number == kNoPart) return;
  Part& part = parts_[number];
  if (part.done && values_.empty()) return;
  Keyspace& emptied = *part.keyspace;
  part.kept = std::make_unique<Keyspace>(emptied.seed(), engine_.reclaimer());
  part.kept->set_epoch(epoch_);
  part.kept->Swap(emptied);
  emptied.Clear();  // keys added from now on are not in the snapshot
  part.keyspace = part.kept.get();
  ++kept_;
  part.done = false;
}

void SnapshotWalk::BeforeSwap(size_t one, size_t other) {
  std::swap(part_of_[one], part_of_[other]);
  for (const size_t database : {one, other}) {
    const size_t number = part_of_[database];
    if (number != kNoPart) parts_[number].keyspace = &engine_.database(database);
  }
}

absl::Status SnapshotWalk::SaveBeforeChange(size_t database, Keyspace::Segment& segment,
                                            std::string_view key, const Keyspace::Entry& entry) {
  if (segment.epoch >= epoch_ || segment.HasMark(epoch_, key)) return absl::OkStatus();
  const size_t part = part_of_[database];
  Check(part != kNoPart, "what is newer than the walk is not shown to it");
  const bool is_listed = segment.epoch == listed_epoch();
  if (is_listed || segment.marks(epoch_) >= kMostMarks) {
    if (absl::Status status = is_listed ? absl::OkStatus() : Save(part, segment); !status.ok()) {
      return status;
    }
    const bool may_be_listed = !parts_[part].listed.empty();
    return may_be_listed ? SaveListed(part, parts_[part].keyspace->Hash(key)) : absl::OkStatus();
  }
  segment.AddMark(epoch_, key);
  size_t most_cost = kSegmentCost;
  return entry ? SaveEntry(part, entry, most_cost) : absl::OkStatus();
}

}  // namespace tally
