// A snapshot of a large CompactMap while it changes. A record that is about to change is saved
// first. After kMostMarks such records of a segment, the whole segment is saved.
#include <utility>

#include "core/table/compact_map_table.h"

namespace tally {
namespace {

constexpr size_t kRunBytes = 64 * 1024;
constexpr size_t kMostMarks = 32;

}  // namespace

bool CompactMap::BeginSnapshot(char kind, const RunSink& sink) {
  if (packed()) return false;
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->sink = sink;
  snapshot->kind = kind;
  snapshot->epoch = ++table_->snapshot_epoch;
  snapshot->run.assign(1, kind);
  snapshot->sink(snapshot->run);
  table_->snapshot = std::move(snapshot);
  return true;
}

void CompactMap::EndSnapshot() {
  if (!packed()) table_->snapshot = nullptr;
}

void CompactMap::SaveRecord(const RecordTable::Record& record) {
  Snapshot& snapshot = *table_->snapshot;
  AppendTexts(record.key(), record.payload(), snapshot.run);
  if (snapshot.run.size() < kRunBytes) return;
  snapshot.sink(snapshot.run);
  snapshot.run.assign(1, snapshot.kind);
}

void CompactMap::SaveSegment(RecordTable::Segment& segment) {
  const uint64_t epoch = table_->snapshot->epoch;
  segment.epoch = epoch;
  table_->ForEach(segment, [&](const RecordTable::Record& record) {
    if (!segment.HasMark(epoch, record.key())) SaveRecord(record);
  });
  segment.ClearMarks();
}

void CompactMap::BeforeChange(RecordTable::Segment& segment, std::string_view key,
                              const RecordTable::Record& record) {
  const uint64_t epoch = table_->snapshot->epoch;
  if (segment.epoch >= epoch || segment.HasMark(epoch, key)) return;
  if (segment.marks(epoch) >= kMostMarks) return SaveSegment(segment);
  if (record) SaveRecord(record);
  segment.AddMark(epoch, key);
}

bool CompactMap::SaveSnapshot() {
  if (packed() || table_->snapshot == nullptr) return false;
  Snapshot& snapshot = *table_->snapshot;
  while (RecordTable::Segment* segment = table_->NextSegment(snapshot.position)) {
    if (segment->epoch >= snapshot.epoch) continue;
    SaveSegment(*segment);
    return true;
  }
  if (snapshot.run.size() > 1) snapshot.sink(snapshot.run);
  table_->snapshot = nullptr;
  return false;
}

}  // namespace tally
