#include "server/rdb/value_batch.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes/recycle.h"
#include "core/bytes/text.h"
#include "core/keyspace/access.h"
#include "core/keyspace/value.h"

namespace tally::rdb {
namespace {

// A longer text, which is never part of its key's record, is not copied twice.
constexpr size_t kMostCopied = 1024;

// The smallest instant means something else to a keyspace; a millisecond after it is as long ago.
int64_t DeadlineOf(const KeyHead& head) { return std::max(head.deadline_ms, INT64_MIN + 1); }

// Sets the access mark that the file has for the key.
void MarkAccess(const std::optional<uint64_t>& idle_seconds,
                const std::optional<uint8_t>& frequency, std::string_view key, Keyspace& keyspace,
                int64_t now_ms) {
  const AccessTracking& tracking = keyspace.access_tracking();
  const bool by_frequency = tracking.by_frequency;
  now_ms = tracking.Passed(now_ms);
  Keyspace::Entry entry = keyspace.Peek(key);
  if (by_frequency && frequency) {
    entry.set_access((NewFrequencyMark(now_ms) & ~0xFFU) | *frequency);
  } else if (!by_frequency && idle_seconds) {
    // A mark goes 194 days back.
    const uint64_t idle = std::min<uint64_t>(*idle_seconds, kAccessMask);
    entry.set_access(TimeMark(now_ms - static_cast<int64_t>(idle) * 1000));
  }
}

}  // namespace

ValueBatch::Value& ValueBatch::Add(const KeyHead& head, Type type, Form form,
                                   std::string_view bytes) {
  const size_t begin = bytes_.size();
  bytes_.append(head.key).append(bytes);
  return values_.emplace_back(Value{.type = type,
                                    .form = form,
                                    .key_begin = begin,
                                    .key_size = head.key.size(),
                                    .size = bytes.size(),
                                    .number = 0,
                                    .heap = nullptr,
                                    .deadline_ms = DeadlineOf(head),
                                    .offset = head.offset,
                                    .idle_seconds = head.idle_seconds,
                                    .frequency = head.frequency});
}

void ValueBatch::AddText(const KeyHead& head, std::string_view text) {
  if (text.size() > kMostCopied) return AddHeap(head, Type::kString, new Text(text));
  Add(head, Type::kString, Form::kText, text);
}

void ValueBatch::AddInteger(const KeyHead& head, int64_t number) {
  Add(head, Type::kString, Form::kInteger, {}).number = number;
}

void ValueBatch::AddPacked(const KeyHead& head, Type type, std::string_view bytes) {
  Add(head, type, Form::kPacked, bytes);
}

void ValueBatch::AddHeap(const KeyHead& head, Type type, void* value) {
  Add(head, type, Form::kHeap, {}).heap = value;
}

void ValueBatch::RemoveOld(Keyspace& keyspace, int64_t now_ms) const {
  for (const Value& value : values_) {
    if (const Keyspace::Entry old = keyspace.FindForWrite(KeyOf(value), now_ms))
      keyspace.Erase(old);
  }
}

std::optional<ValueBatch::Known> ValueBatch::Store(Keyspace& keyspace, int64_t now_ms) {
  std::array<std::string_view, kMostValues> keys;
  for (size_t i = 0; i < values_.size(); ++i) keys[i] = KeyOf(values_[i]);
  if (values_.size() > 1) keyspace.PrefetchInsertions({keys.data(), values_.size()});
  std::optional<Known> known;
  for (Value& value : values_) {
    const size_t before = keyspace.size();
    StoreOne(value, keyspace, now_ms);
    if (keyspace.size() == before && !known) {
      known = {std::string(KeyOf(value)), value.offset};
    }
  }
  Clear();
  return known;
}

void ValueBatch::StoreOne(Value& value, Keyspace& keyspace, int64_t now_ms) {
  const std::string_view key = KeyOf(value);
  const std::string_view bytes =
      std::string_view(bytes_).substr(value.key_begin + value.key_size, value.size);
  switch (value.form) {
    case Form::kPacked:
      keyspace.SetPacked(key, value.type, bytes, value.deadline_ms, now_ms);
      break;
    case Form::kText:
      keyspace.SetString(key, bytes, value.deadline_ms, now_ms);
      break;
    case Form::kInteger:
      keyspace.SetInteger(key, value.number, value.deadline_ms, now_ms);
      break;
    case Form::kHeap:
      keyspace.SetPointer(key, value.type, std::exchange(value.heap, nullptr), value.deadline_ms,
                          now_ms);
      break;
  }
  if (value.idle_seconds || value.frequency) {
    MarkAccess(value.idle_seconds, value.frequency, key, keyspace, now_ms);
  }
}

void ValueBatch::Clear() {
  for (const Value& value : values_) {
    if (value.heap != nullptr) OperationsOf(value.type).destroy(value.heap);
  }
  values_.clear();
  Recycle(bytes_, 2 * kMostBytes);
}

}  // namespace tally::rdb
