// The large form of a CompactMap: a table and, while one is under way, its snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/bytes/run_sink.h"
#include "core/table/compact_map.h"
#include "core/table/table_snapshot.h"

namespace tally {

struct CompactMap::Snapshot {
  RunSink sink;
  char kind = 0;
  TableSnapshot records;
  std::string run;  // begun; also holds records that are saved ahead of their turn
};

struct CompactMap::Table : RecordTable {
  using RecordTable::RecordTable;

  std::unique_ptr<Snapshot> snapshot;
  uint64_t snapshots = 0;  // begun so far
};

}  // namespace tally
