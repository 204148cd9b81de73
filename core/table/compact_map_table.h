// The large form of a CompactMap: a table, and the snapshot of it that may be under way.
#pragma once

#include <memory>
#include <string>

#include "core/table/compact_map.h"

namespace tally {

// What is left to be saved of the map as it was when the snapshot began: the records of segments
// whose epoch is lower, but for those that are marked.
struct CompactMap::Snapshot {
  RunSink sink;
  char kind = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  std::string run;  // begun, with what has been saved ahead of its turn
};

struct CompactMap::Table : RecordTable {
  using RecordTable::RecordTable;

  std::unique_ptr<Snapshot> snapshot;
  uint64_t snapshot_epoch = 0;  // of the last one
};

}  // namespace tally
