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

size_t SizeOf(const Keyspace::Entry& entry) {
  return entry.type() == Type::kString ? entry.heap<Text>().size()
                                       : OperationsOf(entry.type()).weight(entry.pointer());
}

}  // namespace

size_t SavingCost(const Keyspace::Entry& entry) {
  return entry.is_heap() ? CostOf(entry.type(), entry.pointer()) : 1;
}

ValueQueue::~ValueQueue() {
  while (!pending_.empty()) Remove(pending_.begin());
}

void ValueQueue::Add(size_t database, const Keyspace::Entry& entry) {
  pending_.push_back(
      {{database, std::string(entry.key()), entry.type(), entry.deadline_ms(), SizeOf(entry)},
       entry.pointer()});
  by_value_.emplace(entry.pointer(), std::prev(pending_.end()));
}

void ValueQueue::Remove(Position position) {
  if (position->progress == Progress::kSnapshot)
    OperationsFor(*position).end_snapshot(position->value);
  // One that holds a copy is not in the map; its original may be there for another value.
  const auto named = by_value_.find(position->value);
  if (named != by_value_.end() && named->second == position) by_value_.erase(named);
  if (position->is_owned) engine_.reclaimer().Add(position->head.type, position->value);
  pending_.erase(position);
}

bool ValueQueue::Keep(const void* value) {
  const auto named = by_value_.find(value);
  if (named == by_value_.end()) return false;
  named->second->is_owned = true;
  return true;
}

std::string& ValueQueue::BeginRun(PendingValue& value) {
  return std::exchange(value.has_begun, true) ? emitter_.BeginFurtherRun(value.head)
                                              : emitter_.BeginFirstRun(value.head);
}

bool ValueQueue::BeginSnapshot(PendingValue& value) {
  const ValueOperations& operations = OperationsFor(value);
  if (operations.begin_snapshot == nullptr) return false;
  const bool begun = operations.begin_snapshot(
      value.value, [this, &value](std::string_view run) { AddRun(value, run); });
  if (begun) value.progress = Progress::kSnapshot;
  return begun;
}

void ValueQueue::AddRun(PendingValue& value, std::string_view run) {
  if (value.has_begun && emitter_.RunBytesFor(value.head.key) > emitter_.run_bytes()) {
    AppendLengthPrefixed(value.runs, run);
    if (value.runs.size() >= value.head.key.size()) WriteRuns(value);
    return;
  }
  BeginRun(value).append(run);
  const absl::Status status = emitter_.EndRun(value.head);
  if (snapshot_status_.ok()) snapshot_status_ = status;
}

void ValueQueue::WriteRuns(PendingValue& value) {
  if (value.runs.empty()) return;
  emitter_.BeginManyRuns(value.head).append(std::exchange(value.runs, {}));
  const absl::Status status = emitter_.EndRun(value.head);
  if (snapshot_status_.ok()) snapshot_status_ = status;
}

TextSnapshot& ValueQueue::TextOf(PendingValue& value) {
  if (value.text == nullptr) {
    value.text = std::make_unique<TextSnapshot>(*static_cast<const Text*>(value.value));
  }
  return *value.text;
}

bool ValueQueue::AppendSlice(PendingValue& value, std::string& out) {
  const size_t run_bytes = emitter_.RunBytesFor(value.head.key);
  if (value.head.type == Type::kString) return TextOf(value).SaveSome(run_bytes, out);
  value.cursor = OperationsFor(value).save(value.value, value.cursor, run_bytes, out);
  return value.cursor != 0;
}

absl::Status ValueQueue::SaveSlice(Position position) {
  PendingValue& value = *position;
  value.progress = Progress::kSlices;
  const bool more = AppendSlice(value, BeginRun(value));
  const absl::Status status = emitter_.EndRun(value.head);
  return more || !status.ok() ? status : End(position);
}

absl::Status ValueQueue::End(Position position) {
  absl::Status status = emitter_.EndValue(position->head);
  Remove(position);
  return status;
}

absl::Status ValueQueue::SaveRest(Position position) {
  absl::Status status;
  for (bool more = true; more && status.ok();) {
    const size_t before = pending_.size();
    status = SaveSlice(position);
    more = pending_.size() == before;
  }
  return status;
}

absl::Status ValueQueue::SaveSome() {
  if (!snapshot_status_.ok()) return snapshot_status_;
  const Position position = pending_.begin();
  if (absl::Status status = emitter_.Turn(position->head); !status.ok()) return status;
  if (position->progress == Progress::kWaiting &&
      CostOf(position->head.type, position->value) > kSmallCost && BeginSnapshot(*position)) {
    return snapshot_status_;
  }
  if (position->progress != Progress::kSnapshot) return SaveSlice(position);
  if (!OperationsFor(*position).save_snapshot(position->value)) {
    WriteRuns(*position);
    if (!snapshot_status_.ok()) return snapshot_status_;
    return End(position);
  }
  return snapshot_status_;
}

absl::Status ValueQueue::BeforeChange(void* value, ByteRange bytes) {
  const auto named = by_value_.find(value);
  if (named == by_value_.end()) return absl::OkStatus();
  PendingValue& pending = *named->second;
  if (pending.progress == Progress::kSnapshot) return snapshot_status_;
  const bool is_small = CostOf(pending.head.type, value) <= kSmallCost;
  if (is_small) return SaveRest(named->second);
  if (pending.head.type == Type::kString) {
    TextOf(pending).BeforeChange(bytes);
    return absl::OkStatus();
  }
  if (pending.progress == Progress::kWaiting && BeginSnapshot(pending)) return snapshot_status_;
  const ValueOperations& operations = OperationsFor(pending);
  if (operations.memory_bytes(value) > kCopiedBytes) return SaveRest(named->second);
  pending.value = operations.clone(value);
  pending.is_owned = true;
  by_value_.erase(named);
  return absl::OkStatus();
}

}  // namespace tally
