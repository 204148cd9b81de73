#include "core/snapshot/value_queue.h"

#include <algorithm>
#include <utility>

#include "core/bytes/heap_size.h"
#include "core/bytes/text.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

// A value of at most this many elements is saved whole before it changes, which takes a fraction of
// a millisecond.
constexpr size_t kSmallCost = 4096;
// A larger value that cannot begin a snapshot of its own is copied if it has at most this many
// bytes, which takes a few milliseconds; above this it is saved whole.
constexpr size_t kCopiedBytes = size_t{32} << 20;
// Saving this many bytes of texts takes about as long as saving one element.
constexpr size_t kBytesAnElement = 64;

// Whether the elements of this type may have any size.
bool HoldsTexts(Type type) {
  return type == Type::kString || type == Type::kList || type == Type::kHash ||
         type == Type::kSet || type == Type::kZSet;
}

size_t CostOf(Type type, const void* value) {
  const ValueOperations& operations = OperationsOf(type);
  const size_t elements = operations.weight(value);
  if (!HoldsTexts(type)) return elements;
  return std::max(elements, operations.memory_bytes(value) / kBytesAnElement);
}

}  // namespace

size_t SavingCost(const Keyspace::Entry& entry) {
  return entry.is_heap() ? CostOf(entry.type(), entry.pointer()) : 1;
}

ValueQueue::~ValueQueue() {
  while (!items_.empty()) Remove(items_.begin());
}

void ValueQueue::Add(size_t database, const Keyspace::Entry& entry) {
  items_.push_back(
      {{database, std::string(entry.key()), entry.type(), entry.deadline()}, entry.pointer()});
  by_value_.emplace(entry.pointer(), std::prev(items_.end()));
}

void ValueQueue::Remove(Place place) {
  if (place->progress == Progress::kSnapshot) OperationsFor(*place).end_snapshot(place->value);
  // An item that holds a copy is not in the map; its original may be there for another item.
  const auto named = by_value_.find(place->value);
  if (named != by_value_.end() && named->second == place) by_value_.erase(named);
  if (place->is_owned) engine_.reclaimer().Add(place->head.type, place->value);
  items_.erase(place);
}

bool ValueQueue::Keep(const void* value) {
  const auto named = by_value_.find(value);
  if (named == by_value_.end()) return false;
  named->second->is_owned = true;
  return true;
}

void ValueQueue::BeginRecord(Item& item) {
  if (std::exchange(item.has_begun, true)) {
    emitter_.BeginFurtherRun(item.head);
  } else {
    emitter_.BeginFirstRun(item.head);
  }
}

bool ValueQueue::BeginSnapshot(Item& item) {
  const ValueOperations& operations = OperationsFor(item);
  if (operations.begin_snapshot == nullptr) return false;
  const bool begun = operations.begin_snapshot(
      item.value, [this, &item](std::string_view run) { AddRun(item, run); });
  if (begun) item.progress = Progress::kSnapshot;
  return begun;
}

void ValueQueue::AddRun(Item& item, std::string_view run) {
  if (item.has_begun && emitter_.RunBytesFor(item.head.key) > emitter_.run_bytes()) {
    AppendLengthPrefixed(item.runs, run);
    if (item.runs.size() >= item.head.key.size()) WriteRuns(item);
    return;
  }
  BeginRecord(item);
  emitter_.record().append(run);
  const absl::Status status = emitter_.End();
  if (snapshot_status_.ok()) snapshot_status_ = status;
}

void ValueQueue::WriteRuns(Item& item) {
  if (item.runs.empty()) return;
  emitter_.BeginManyRuns(item.head);
  emitter_.record().append(std::exchange(item.runs, {}));
  const absl::Status status = emitter_.End();
  if (snapshot_status_.ok()) snapshot_status_ = status;
}

TextSnapshot& ValueQueue::TextOf(Item& item) {
  if (item.text == nullptr) {
    item.text = std::make_unique<TextSnapshot>(*static_cast<const Text*>(item.value));
  }
  return *item.text;
}

bool ValueQueue::AppendSlice(Item& item) {
  const size_t run_bytes = emitter_.RunBytesFor(item.head.key);
  std::string& record = emitter_.record();
  if (item.head.type == Type::kString) return TextOf(item).SaveSome(run_bytes, record);
  item.cursor = OperationsFor(item).save(item.value, item.cursor, run_bytes, record);
  return item.cursor != 0;
}

absl::Status ValueQueue::SaveSlice(Place place) {
  Item& item = *place;
  item.progress = Progress::kSlices;
  BeginRecord(item);
  const bool more = AppendSlice(item);
  const absl::Status status = emitter_.End();
  if (!more) Remove(place);
  return status;
}

absl::Status ValueQueue::SaveRest(Place place) {
  absl::Status status;
  for (bool more = true; more && status.ok();) {
    const size_t before = items_.size();
    status = SaveSlice(place);
    more = items_.size() == before;
  }
  return status;
}

absl::Status ValueQueue::SaveSome() {
  if (!snapshot_status_.ok()) return snapshot_status_;
  const Place place = items_.begin();
  if (place->progress == Progress::kWaiting &&
      CostOf(place->head.type, place->value) > kSmallCost && BeginSnapshot(*place)) {
    return snapshot_status_;
  }
  if (place->progress != Progress::kSnapshot) return SaveSlice(place);
  if (!OperationsFor(*place).save_snapshot(place->value)) {
    WriteRuns(*place);
    Remove(place);
  }
  return snapshot_status_;
}

absl::Status ValueQueue::BeforeChange(void* value, ByteRange bytes) {
  const auto named = by_value_.find(value);
  if (named == by_value_.end()) return absl::OkStatus();
  Item& item = *named->second;
  if (item.progress == Progress::kSnapshot) return snapshot_status_;
  const bool is_small = CostOf(item.head.type, value) <= kSmallCost;
  if (is_small) return SaveRest(named->second);
  if (item.head.type == Type::kString) {
    TextOf(item).BeforeChange(bytes);
    return absl::OkStatus();
  }
  if (item.progress == Progress::kWaiting && BeginSnapshot(item)) return snapshot_status_;
  const ValueOperations& operations = OperationsFor(item);
  if (operations.memory_bytes(value) > kCopiedBytes) return SaveRest(named->second);
  item.value = operations.clone(value);
  item.is_owned = true;
  by_value_.erase(named);
  return absl::OkStatus();
}

}  // namespace tally
