#include "server/rdb/rdb_writer.h"

namespace tally::rdb {

absl::Status WriteRdb(Engine& engine, const RdbOptions& options, ByteTarget& target) {
  RdbEmitter emitter(engine, options, target);
  absl::Status status = emitter.Policies(engine.policies());
  for (size_t i = 0; i < engine.databases() && status.ok(); ++i) {
    const Keyspace& keyspace = engine.database(i);
    if (keyspace.size() == 0) continue;
    status = emitter.Database(i, keyspace);
    uint64_t position = 0;
    while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
      keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) {
        if (status.ok()) status = emitter.Entry(i, entry);
      });
      if (!status.ok()) break;
    }
  }
  return status.ok() ? emitter.Finish() : status;
}

}  // namespace tally::rdb
