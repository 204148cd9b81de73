#include "server/persistence/snapshot_walk.h"

#include "server/persistence/record_codec.h"

namespace tally::server {
namespace {

constexpr size_t kRunBytes = 64 * 1024;

}  // namespace

SnapshotWalk::SnapshotWalk(Engine& engine, BaseWriter& writer, uint64_t epoch)
    : engine_(engine), writer_(writer), epoch_(epoch) {
  for (size_t i = 0; i < engine.databases(); ++i) engine.database(i).set_epoch(epoch);
}

// Segments keep their marks; nobody asks for them until the next walk begins with a higher epoch.
SnapshotWalk::~SnapshotWalk() {
  for (size_t i = 0; i < engine_.databases(); ++i) engine_.database(i).set_epoch(0);
}

absl::Status SnapshotWalk::Save(size_t database, Keyspace::Segment& segment) {
  segment.epoch = epoch_;
  absl::Status status;
  const auto emit = [&](std::string_view record) { return writer_.Append(record); };
  engine_.database(database).ForEach(segment, [&](const Keyspace::Entry& entry) {
    if (!status.ok()) return;
    status = EncodeEntry(database, entry, kRunBytes, scratch_, emit);
    ++keys_;
  });
  return status;
}

absl::StatusOr<bool> SnapshotWalk::SaveNext() {
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
