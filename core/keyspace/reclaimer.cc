#include "core/keyspace/reclaimer.h"

#include <algorithm>
#include <utility>

#include "core/keyspace/keyspace.h"
#include "core/keyspace/value.h"

namespace tally {
namespace {

// Values of at most this many elements are freed at once.
constexpr size_t kSmallValue = 256;

}  // namespace

Reclaimer::~Reclaimer() {
  while (!FreeSome(SIZE_MAX)) {
  }
}

void Reclaimer::Add(Type type, void* value) {
  const ValueOperations& operations = OperationsOf(type);
  if (operations.weight(value) > kSmallValue) {
    values_.push_back({type, value});
  } else {
    operations.destroy(value);
    ++freed_;
  }
}

void Reclaimer::Add(RecordTable&& table) { tables_.push_back({std::move(table)}); }

bool Reclaimer::FreeTableSlice(Table& table, size_t& budget) {
  // First the heap values, segment by segment, then the segments themselves.
  while (budget > 0) {
    RecordTable::Segment* segment = table.table.NextSegment(table.position);
    if (segment == nullptr) break;
    table.table.ForEach(*segment, [&](const RecordTable::Record& record) {
      if (const auto [type, value] = Keyspace::HeapValueOf(record); value != nullptr) {
        Add(type, value);
      }
    });
    budget -= std::min(budget, segment->size() + 1);
  }
  if (!table.table.AtEnd(table.position)) return false;
  constexpr size_t kElementsOfASegment = 64;
  // At least one segment, so that a caller who loops with a small budget comes to an end.
  return table.table.FreeSome(std::max<size_t>(budget / kElementsOfASegment, 1));
}

bool Reclaimer::FreeSome(size_t budget) {
  while (budget > 0 && !empty()) {
    if (!tables_.empty()) {
      if (!FreeTableSlice(tables_.front(), budget)) return false;
      tables_.pop_front();
      continue;
    }
    const auto [type, value] = values_.front();
    const ValueOperations& operations = OperationsOf(type);
    const size_t before = operations.weight(value);
    if (!operations.free_some(value, budget)) return false;
    operations.destroy(value);
    ++freed_;
    values_.pop_front();
    budget -= std::min(budget, before + 1);
  }
  return empty();
}

}  // namespace tally
