// What a snapshot of a RecordTable has still to save while the table goes on changing
// (copy-on-write by segments). A record that is about to change is saved first. After a few such
// records of a segment the whole segment is saved, because each of them leaves a mark that takes
// memory and time. Of a segment of many bytes only the hashes of the keys are listed, and then one
// record is saved at a time, so that no step takes long.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <set>
#include <string_view>

#include "core/table/record_table.h"

namespace tally {

class TableSnapshot {
 public:
  // Saves a record. Must not change the table.
  using Save = absl::FunctionRef<void(const RecordTable::Record&)>;

  // Begins the snapshot of a table. `number` must be higher than that of any snapshot of this table
  // before; several tables may share one.
  explicit TableSnapshot(uint64_t number) : epoch_(2 * number) {}

  // A segment of at least this epoch has nothing to save.
  uint64_t epoch() const { return epoch_; }

  // Saves the next segment or the next listed record. Returns false if all is saved. O(segment).
  bool SaveNext(const RecordTable& table, Save save);

  // Must be called before the record of this key, in this segment or to be inserted there (`record`
  // is then empty), is inserted, changed or erased. Saves it as it is, if it is still to be saved.
  void BeforeChange(const RecordTable& table, RecordTable::Segment& segment, std::string_view key,
                    const RecordTable::Record& record, Save save);

 private:
  // A segment of this epoch has only those keys still to be saved whose hashes are listed.
  uint64_t listed_epoch() const { return epoch_ - 1; }
  void SaveSegment(const RecordTable& table, RecordTable::Segment& segment, Save save);
  // Saves the records of this hash, if it is listed.
  void SaveListed(const RecordTable& table, uint64_t hash, Save save);

  uint64_t epoch_;
  uint64_t position_ = 0;
  // A key that changes leaves the list, and no split of a segment changes a hash. So the list stays
  // right whatever happens to the table.
  std::set<uint64_t> listed_;
};

}  // namespace tally
