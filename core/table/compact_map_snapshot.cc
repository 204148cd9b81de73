// A snapshot of a large CompactMap while it changes.
#include <utility>

#include "core/bytes/recycle.h"
#include "core/bytes/run_sink.h"
#include "core/table/compact_map_table.h"

namespace tally {

bool CompactMap::BeginSnapshot(char kind, const RunSink& sink) {
  if (packed()) return false;
  table_->snapshot = std::make_unique<Snapshot>(
      Snapshot{sink, kind, TableSnapshot(++table_->snapshots), std::string(1, kind)});
  sink(table_->snapshot->run);
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

void CompactMap::BeforeChange(RecordTable::Segment& segment, std::string_view key,
                              const RecordTable::Record& record) {
  table_->snapshot->records.BeforeChange(
      *table_, segment, key, record, [this](const RecordTable::Record& old) { SaveRecord(old); });
}

bool CompactMap::SaveSnapshot() {
  if (packed() || table_->snapshot == nullptr) return false;
  Snapshot& snapshot = *table_->snapshot;
  const bool more = snapshot.records.SaveNext(
      *table_, [this](const RecordTable::Record& record) { SaveRecord(record); });
  if (more) return true;
  if (snapshot.run.size() > 1) snapshot.sink(snapshot.run);
  table_->snapshot = nullptr;
  return false;
}

}  // namespace tally
