#include "server/persistence/snapshot_walk.h"

#include <utility>

#include "server/persistence/record_codec.h"

namespace tally::server {
namespace {

constexpr size_t kRunBytes = 64 * 1024;
// Values of more elements than these are cut, if their type can be.
constexpr size_t kCutWeight = 1024;

}  // namespace

SnapshotWalk::SnapshotWalk(Engine& engine, BaseWriter& writer, uint64_t epoch)
    : engine_(engine), writer_(writer), epoch_(epoch) {
  for (size_t i = 0; i < engine.databases(); ++i) engine.database(i).set_epoch(epoch);
}

// Segments keep their marks; nobody asks for them until the next walk begins with a higher epoch.
SnapshotWalk::~SnapshotWalk() {
  for (const Cut& cut : cuts_) EndCut(cut);
  for (size_t i = 0; i < engine_.databases(); ++i) engine_.database(i).set_epoch(0);
}

absl::Status SnapshotWalk::Save(size_t database, Keyspace::Segment& segment) {
  segment.epoch = epoch_;
  absl::Status status;
  const auto emit = [&](std::string_view record) { return writer_.Append(record); };
  engine_.database(database).ForEach(segment, [&](const Keyspace::Entry& entry) {
    if (!status.ok()) return;
    ++keys_;
    if (entry.is_heap()) {
      const ValueOperations& operations = OperationsOf(entry.type());
      if (operations.begin_cut != nullptr && operations.weight(entry.pointer()) > kCutWeight) {
        return BeginCut(database, entry);
      }
    }
    status = EncodeEntry(database, entry, kRunBytes, scratch_, emit);
  });
  return status.ok() ? cut_status_ : status;
}

void SnapshotWalk::BeginCut(size_t database, const Keyspace::Entry& entry) {
  Cut& cut =
      cuts_.emplace_back(Cut{database, std::string(entry.key()), entry.type(), entry.pointer()});
  const Keyspace::Entry* head = &entry;  // the first run comes before begin_cut returns
  OperationsOf(cut.type).begin_cut(cut.value, [this, &cut, head](std::string_view run) mutable {
    if (head != nullptr) {
      EncodeFirstRun(cut.database, *std::exchange(head, nullptr), run, scratch_);
    } else {
      EncodeRun(cut.database, cut.key, run, scratch_);
    }
    if (cut_status_.ok()) cut_status_ = writer_.Append(scratch_);
  });
}

void SnapshotWalk::EndCut(const Cut& cut) {
  OperationsOf(cut.type).end_cut(cut.value);
  if (cut.is_orphan) engine_.reclaimer().Add(cut.type, cut.value);
}

bool SnapshotWalk::KeepValue(const void* value) {
  for (Cut& cut : cuts_) {
    if (cut.value != value) continue;
    cut.is_orphan = true;
    return true;
  }
  return false;
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
  if (!cut_status_.ok()) return cut_status_;
  if (!cuts_.empty()) {
    if (!OperationsOf(cuts_.front().type).save_cut(cuts_.front().value)) {
      EndCut(cuts_.front());
      cuts_.pop_front();
    }
    return cut_status_.ok() ? absl::StatusOr<bool>(true) : cut_status_;
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

absl::Status SnapshotWalk::SaveBeforeChange(size_t database, Keyspace::Segment& segment) {
  return segment.epoch < epoch_ ? Save(database, segment) : absl::OkStatus();
}

}  // namespace tally::server
