// Frees large values and whole tables in slices, so that no deletion stalls the event loop.
#pragma once

#include <cstddef>
#include <deque>

#include "core/base/type.h"
#include "core/table/record_table.h"

namespace tally {

class Reclaimer {
 public:
  Reclaimer() = default;
  ~Reclaimer();
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  // Takes ownership; small values are freed at once.
  void Add(Type type, void* value);
  // Takes the records of a whole keyspace, with their heap values.
  void Add(RecordTable&& table);

  // Frees about `budget` elements; returns true when nothing is left.
  bool FreeSome(size_t budget);
  bool empty() const { return values_.empty() && tables_.empty(); }
  size_t pending() const { return values_.size() + tables_.size(); }
  // Values freed so far.
  uint64_t freed() const { return freed_; }

 private:
  struct Value {
    Type type;
    void* pointer;
  };
  struct Table {
    RecordTable table;
    uint64_t position = 0;
  };
  bool FreeTableSlice(Table& table, size_t& budget);

  std::deque<Value> values_;
  std::deque<Table> tables_;
  uint64_t freed_ = 0;
};

}  // namespace tally
