#include "core/table/table_snapshot.h"

namespace tally {
namespace {

// After this many records of a segment were saved ahead of their turn, the next one saves the whole
// rest of the segment.
constexpr size_t kMostMarks = 32;
// A segment of more bytes is saved record by record. It has few of them: a segment of 64 records or
// more splits above 128 KiB.
constexpr size_t kMostSegmentBytes = size_t{512} << 10;

}  // namespace

void TableSnapshot::SaveSegment(const RecordTable& table, RecordTable::Segment& segment,
                                Save save) {
  const bool is_large = segment.bytes() > kMostSegmentBytes;
  segment.epoch = is_large ? listed_epoch() : epoch_;
  table.ForEach(segment, [&](const RecordTable::Record& record) {
    if (segment.HasMark(epoch_, record.key())) return;
    if (is_large) {
      listed_.insert(table.Hash(record.key()));
    } else {
      save(record);
    }
  });
  segment.ClearMarks();
}

void TableSnapshot::SaveListed(const RecordTable& table, uint64_t hash, Save save) {
  if (listed_.erase(hash) > 0) table.ForEachWithHash(hash, save);
}

bool TableSnapshot::SaveNext(const RecordTable& table, Save save) {
  if (!listed_.empty()) {
    SaveListed(table, *listed_.begin(), save);
    return true;
  }
  while (RecordTable::Segment* segment = table.NextSegment(position_)) {
    if (segment->epoch >= listed_epoch()) continue;
    SaveSegment(table, *segment, save);
    return true;
  }
  return false;
}

void TableSnapshot::BeforeChange(const RecordTable& table, RecordTable::Segment& segment,
                                 std::string_view key, const RecordTable::Record& record,
                                 Save save) {
  if (segment.epoch >= epoch_ || segment.HasMark(epoch_, key)) return;
  const bool is_listed = segment.epoch == listed_epoch();
  if (!is_listed && segment.marks(epoch_) < kMostMarks) {
    segment.AddMark(epoch_, key);
    if (record) save(record);
    return;
  }
  if (!is_listed) SaveSegment(table, segment, save);
  if (!listed_.empty()) SaveListed(table, table.Hash(key), save);
}

}  // namespace tally
