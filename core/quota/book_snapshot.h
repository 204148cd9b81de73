// Saves the tables of a quota book as runs (quota_run.h): one run after the other, or a snapshot
// that is taken while the book goes on changing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes/run_sink.h"
#include "core/table/record_table.h"
#include "core/table/table_snapshot.h"

namespace tally {

// The tables of texts, SKUs, parts of SKUs, users and chunks of large users, in the order in which
// they are saved; null if the book has no texts, parts or large users.
using BookTables = std::array<const RecordTable*, 5>;

// Appends one run of about `max_bytes` bytes; of cursor 0, which is before all runs, nothing.
// Returns the cursor of the next run, 0 at the end.
uint64_t SaveRun(const BookTables& tables, uint64_t cursor, size_t max_bytes, std::string& out);

class BookSnapshot {
 public:
  // `number` must be higher than that of any snapshot of the book before. `sink` gets the runs.
  BookSnapshot(uint64_t number, RunSink sink);

  // A segment of at least this epoch has nothing to save.
  uint64_t epoch() const { return parts_.front().records.epoch(); }
  // Must be called before a record is inserted, changed or erased; saves it as it is.
  void BeforeChange(const BookTables& tables, const RecordTable& table, uint64_t hash,
                    std::string_view key);
  // Saves the next segment. Returns false when the sink has got everything.
  bool SaveNext(const BookTables& tables);

 private:
  struct Part {
    TableSnapshot records;
    std::string run;  // begun with its kind
  };

  void SaveRecord(Part& part, const RecordTable::Record& record);

  RunSink sink_;
  std::array<Part, std::tuple_size_v<BookTables>> parts_;
  size_t next_ = 0;  // the part whose turn it is
};

}  // namespace tally
