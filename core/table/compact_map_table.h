// The large form of a CompactMap: a table and, while one is under way, its snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "core/bytes/run_sink.h"
#include "core/table/compact_map.h"

namespace tally {

// The state of a snapshot. Still to be saved are the records of the segments whose epoch is lower
// than `epoch`, except the records that are marked in their segment, and the records whose keys'
// hashes are in `listed`.
struct CompactMap::Snapshot {
  RunSink sink;
  char kind = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  std::set<uint64_t> listed;
  std::string run;  // begun; also holds records that are saved ahead of their turn
};

struct CompactMap::Table : RecordTable {
  using RecordTable::RecordTable;

  std::unique_ptr<Snapshot> snapshot;
  uint64_t snapshot_epoch = 0;  // of the last snapshot
};

}  // namespace tally
