// A snapshot of a large CompactMap while it changes. A record that is about to change is saved
// first. After kMostMarks such records of a segment, the whole segment is saved. Of a segment of
// large records only the hashes are listed, and each step saves one record. The list stays right
// whatever the table does: a record that changes is saved and leaves the list, and a split or a
// move of records changes no hash.
#include <utility>

#include "core/bytes/recycle.h"
#include "core/bytes/run_sink.h"
#include "core/table/compact_map_table.h"

namespace tally {
namespace {

constexpr size_t kMostMarks = 32;
// A segment of more bytes is saved record by record, so that no step takes long. It has few
// records, because a segment of 64 records or more splits above 128 KiB.
constexpr size_t kMostSegmentBytes = 512 * 1024;

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
  // One large record must not keep its memory until the end.
  Recycle(snapshot.run, 2 * kRunBytes);
  snapshot.run.assign(1, snapshot.kind);
}

void CompactMap::SaveSegment(RecordTable::Segment& segment) {
  Snapshot& snapshot = *table_->snapshot;
  const bool is_large = segment.bytes() > kMostSegmentBytes;
  segment.epoch = snapshot.epoch;
  table_->ForEach(segment, [&](const RecordTable::Record& record) {
    if (segment.HasMark(snapshot.epoch, record.key())) return;
    if (is_large) {
      snapshot.listed.insert(table_->Hash(record.key()));
    } else {
      SaveRecord(record);
    }
  });
  segment.ClearMarks();
}

bool CompactMap::SaveListed(uint64_t hash) {
  if (table_->snapshot->listed.erase(hash) == 0) return false;
  table_->ForEachWithHash(hash, [&](const RecordTable::Record& record) { SaveRecord(record); });
  return true;
}

void CompactMap::BeforeChange(RecordTable::Segment& segment, std::string_view key,
                              const RecordTable::Record& record) {
  const Snapshot& snapshot = *table_->snapshot;
  if (!snapshot.listed.empty() && SaveListed(table_->Hash(key))) return;
  if (segment.epoch >= snapshot.epoch || segment.HasMark(snapshot.epoch, key)) return;
  if (segment.marks(snapshot.epoch) >= kMostMarks) {
    SaveSegment(segment);
    SaveListed(table_->Hash(key));
    return;
  }
  if (record) SaveRecord(record);
  segment.AddMark(snapshot.epoch, key);
}

bool CompactMap::SaveSnapshot() {
  if (packed() || table_->snapshot == nullptr) return false;
  Snapshot& snapshot = *table_->snapshot;
  if (!snapshot.listed.empty()) return SaveListed(*snapshot.listed.begin());
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
