#include "server/rdb/native_value.h"

#include <utility>

#include "core/base/check.h"
#include "core/keyspace/value.h"
#include "server/rdb/native_types.h"

namespace tally::rdb {
namespace {

constexpr Refusal kMalformed = "a value of tally.so is malformed";

}  // namespace

void NativeValue::Clear() {
  if (heap_ != nullptr) OperationsOf(type_).destroy(std::exchange(heap_, nullptr));
  packed_.clear();
  complete_ = false;
}

void NativeValue::Begin(Type type, uint64_t seed, ZoneSource& zones) {
  Clear();
  type_ = type;
  seed_ = seed;
  zones_ = &zones;
}

Refusal NativeValue::Add(std::string_view part) {
  if (complete_ || part.empty()) return kMalformed;
  const auto kind = static_cast<uint8_t>(part.front());
  if (kind < kNativeRun) return AddPacked(part);
  const ValueOperations& operations = OperationsOf(type_);
  if (heap_ == nullptr) heap_ = operations.create(seed_, *zones_);
  if (!operations.load(heap_, part.substr(1))) return kMalformed;
  complete_ = kind == kNativeLastRun;
  return {};
}

// A block: the length of the packed bytes, these bytes, and zeros.
Refusal NativeValue::AddPacked(std::string_view block) {
  const size_t size = static_cast<uint8_t>(block.front());
  const auto is_packed = OperationsOf(type_).is_packed;
  if (heap_ != nullptr || is_packed == nullptr || block.size() < 1 + size) return kMalformed;
  const std::string_view bytes = block.substr(1, size);
  const bool padded = block.find_first_not_of('\0', 1 + size) == std::string_view::npos;
  if (!padded || !is_packed(bytes)) return kMalformed;
  packed_.assign(bytes);
  complete_ = true;
  return {};
}

void NativeValue::Give(const KeyHead& head, ValueBatch& batch) {
  Check(complete_, "a value is stored when all of it has come");
  if (heap_ != nullptr) {
    batch.AddHeap(head, type_, std::exchange(heap_, nullptr));
  } else {
    batch.AddPacked(head, type_, packed_);
  }
  Clear();
}

}  // namespace tally::rdb
