#include "server/persistence/snapshot_walk.h"

#include <algorithm>

#include "server/persistence/record_codec.h"

namespace tally::server {
namespace {

constexpr size_t kRunBytes = 64 * 1024;
// What is saved of a segment's values at once, in elements: a fraction of a millisecond.
constexpr size_t kSegmentCost = 4096;
// A value that cost more waits in the queue in any case.
constexpr size_t kMostValueCost = 1024;
// So many keys are saved one by one before the rest of their segment is saved too: their names are
// memory, and the search for them takes time.
constexpr size_t kMostMarks = 32;

}  // namespace

SnapshotWalk::SnapshotWalk(Engine& engine, BaseWriter& writer, uint64_t epoch)
    : engine_(engine), writer_(writer), epoch_(epoch), values_(engine, writer) {
  for (size_t i = 0; i < engine.databases(); ++i) {
    Keyspace& database = engine.database(i);
    database.set_epoch(epoch);
    if (database.size() == 0) continue;
    EncodeKeyCount(i, database.size(), scratch_);
    writer.Append(scratch_).IgnoreError();  // the next one tells it again
  }
}

// Segments keep their epochs and marks; nobody asks for them until the next walk begins with a
// higher epoch.
SnapshotWalk::~SnapshotWalk() {
  for (size_t i = 0; i < engine_.databases(); ++i) engine_.database(i).set_epoch(0);
}

absl::Status SnapshotWalk::SaveEntry(size_t database, const Keyspace::Entry& entry,
                                     size_t& most_cost) {
  ++keys_;
  const size_t cost = SavingCost(entry);
  if (entry.is_heap() && cost > std::min(most_cost, kMostValueCost)) {
    values_.Add(database, entry);
    return absl::OkStatus();
  }
  most_cost -= std::min(cost, most_cost);
  return EncodeEntry(database, entry, kRunBytes, scratch_,
                     [&](std::string_view record) { return writer_.Append(record); });
}

absl::Status SnapshotWalk::Save(size_t database, Keyspace::Segment& segment) {
  segment.epoch = epoch_;
  absl::Status status;
  size_t most_cost = kSegmentCost;
  engine_.database(database).ForEach(segment, [&](const Keyspace::Entry& entry) {
    if (!status.ok() || segment.HasMark(epoch_, entry.key())) return;
    status = SaveEntry(database, entry, most_cost);
  });
  segment.ClearMarks();
  return status;
}

// They may be saved at any time of the walk: the log that continues the snapshot holds every change
// since its begin, and to set or delete a policy once more changes nothing.
absl::Status SnapshotWalk::SavePolicies() {
  absl::Status status;
  engine_.policies().ForEach([&](std::string_view name, const PolicyTable::Words& words) {
    if (!status.ok()) return;
    EncodePolicy(name, words, scratch_);
    status = writer_.Append(scratch_);
  });
  return status;
}

absl::StatusOr<bool> SnapshotWalk::SaveNext() {
  if (!values_.empty()) {
    const absl::Status status = values_.SaveSome();
    return status.ok() ? absl::StatusOr<bool>(true) : status;
  }
  if (!policies_saved_) {
    policies_saved_ = true;
    if (absl::Status status = SavePolicies(); !status.ok()) return status;
  }
  while (database_ < engine_.databases()) {
    Keyspace::Segment* segment = engine_.database(database_).NextSegment(position_);
    if (segment == nullptr) {
      ++database_;
      position_ = 0;
      continue;
    }
    if (segment->epoch >= epoch_) continue;
    if (absl::Status status = Save(database_, *segment); !status.ok()) return status;
    return true;
  }
  return false;
}

absl::Status SnapshotWalk::SaveBeforeChange(size_t database, Keyspace::Segment& segment,
                                            std::string_view key, const Keyspace::Entry& entry) {
  if (segment.epoch >= epoch_ || segment.HasMark(epoch_, key)) return absl::OkStatus();
  if (segment.marks(epoch_) >= kMostMarks) return Save(database, segment);
  segment.AddMark(epoch_, key);
  size_t most_cost = kSegmentCost;
  return entry ? SaveEntry(database, entry, most_cost) : absl::OkStatus();
}

}  // namespace tally::server
