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

}  // namespace

SnapshotWalk::SnapshotWalk(Engine& engine, RecordSink& sink, uint64_t epoch)
    : engine_(engine),
      epoch_(TableSnapshot(epoch).epoch()),
      emitter_(sink),
      values_(engine, emitter_) {
  engine.BeginSnapshot(epoch_, *this);
  emitter_.HoldLargeRecords();
  for (size_t i = 0; i < engine.databases(); ++i) {
    Keyspace& database = engine.database(i);
    parts_.push_back({&database, nullptr, TableSnapshot(epoch)});
    part_of_.push_back(i);
    if (database.size() == 0) continue;
    status_.Update(emitter_.KeyCount(i, database.size()));
  }
  // At once, because nothing saves a policy before it changes.
  status_.Update(emitter_.Policies(engine.policies()));
}

// Segments keep their epochs and marks. That is harmless: nothing reads them before the next walk
// begins, and its epoch is higher.
SnapshotWalk::~SnapshotWalk() { engine_.EndSnapshot(); }

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

absl::StatusOr<bool> SnapshotWalk::SaveNext() {
  if (!status_.ok()) return status_;
  const absl::StatusOr<bool> more = SaveSome();
  status_ = more.status();
  return more;
}

absl::StatusOr<bool> SnapshotWalk::SaveSome() {
  if (emitter_.has_held() || !values_.empty()) {
    const absl::Status status = emitter_.has_held() ? emitter_.WriteHeld() : values_.SaveSome();
    return status.ok() ? absl::StatusOr<bool>(true) : status;
  }
  for (size_t next = NextPart(); next != kNoPart; next = NextPart()) {
    Part& part = parts_[next];
    absl::Status status;
    size_t most_cost = kSegmentCost;
    const bool more = part.keyspace->SaveNext(part.records, [&](const Keyspace::Entry& entry) {
      if (status.ok()) status = SaveEntry(next, entry, most_cost);
    });
    if (!status.ok()) return status;
    if (more) return true;
    part.done = true;
    // No value of this part waits in the queue any more.
    if (part.kept != nullptr) --kept_;
    part.kept = nullptr;
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
  part.kept->BeginSnapshot(epoch_, *this);
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

void SnapshotWalk::BeforeChange(Keyspace& keyspace, Keyspace::Segment& segment,
                                std::string_view key, const Keyspace::Entry& entry) {
  if (segment.epoch >= epoch_ || !status_.ok()) return;
  const size_t number = part_of_[engine_.IndexOf(keyspace)];
  Check(number != kNoPart, "what is newer than the walk is not shown to it");
  Part& part = parts_[number];
  size_t most_cost = kSegmentCost;
  part.keyspace->SaveBeforeChange(part.records, segment, key, entry,
                                  [&](const Keyspace::Entry& old) {
                                    if (status_.ok()) status_ = SaveEntry(number, old, most_cost);
                                  });
}

void SnapshotWalk::BeforeValueChange(void* value, ByteRange bytes) {
  if (status_.ok()) status_ = values_.BeforeChange(value, bytes);
}

}  // namespace tally
