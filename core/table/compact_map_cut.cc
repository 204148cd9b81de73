// A snapshot of a large CompactMap while it changes. A record that is about to change is saved
// before, and its segment as a whole when that has happened to a few.
#include <utility>

#include "core/table/compact_map_table.h"

namespace tally {
namespace {

constexpr size_t kRunBytes = 64 * 1024;
constexpr size_t kMostMarks = 32;

}  // namespace

bool CompactMap::BeginCut(char kind, const RunSink& sink) {
  if (packed()) return false;
  auto cut = std::make_unique<Cut>();
  cut->sink = sink;
  cut->kind = kind;
  cut->epoch = ++table_->cut_epoch;
  cut->run.assign(1, kind);
  cut->sink(cut->run);
  table_->cut = std::move(cut);
  return true;
}

void CompactMap::EndCut() {
  if (!packed()) table_->cut = nullptr;
}

void CompactMap::SaveRecord(const RecordTable::Record& record) {
  Cut& cut = *table_->cut;
  AppendTexts(record.key(), record.payload(), cut.run);
  if (cut.run.size() < kRunBytes) return;
  cut.sink(cut.run);
  cut.run.assign(1, cut.kind);
}

void CompactMap::SaveSegment(RecordTable::Segment& segment) {
  const uint64_t epoch = table_->cut->epoch;
  segment.epoch = epoch;
  table_->ForEach(segment, [&](const RecordTable::Record& record) {
    if (!segment.HasMark(epoch, record.key())) SaveRecord(record);
  });
  segment.ClearMarks();
}

void CompactMap::BeforeChange(RecordTable::Segment& segment, std::string_view key,
                              const RecordTable::Record& record) {
  const uint64_t epoch = table_->cut->epoch;
  if (segment.epoch >= epoch || segment.HasMark(epoch, key)) return;
  if (segment.marks(epoch) >= kMostMarks) return SaveSegment(segment);
  if (record) SaveRecord(record);
  segment.AddMark(epoch, key);
}

bool CompactMap::SaveCut() {
  if (packed() || table_->cut == nullptr) return false;
  Cut& cut = *table_->cut;
  while (RecordTable::Segment* segment = table_->NextSegment(cut.position)) {
    if (segment->epoch >= cut.epoch) continue;
    SaveSegment(*segment);
    return true;
  }
  if (cut.run.size() > 1) cut.sink(cut.run);
  table_->cut = nullptr;
  return false;
}

}  // namespace tally
