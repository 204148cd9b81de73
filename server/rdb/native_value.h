// Puts a value of tallyd's own types together from the parts in which tally.so saved it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/type.h"
#include "core/time/zone_source.h"
#include "server/rdb/rdb_sink.h"
#include "server/rdb/value_batch.h"

namespace tally::rdb {

class NativeValue {
 public:
  NativeValue() = default;
  ~NativeValue() { Clear(); }
  NativeValue(const NativeValue&) = delete;
  NativeValue& operator=(const NativeValue&) = delete;

  // Drops what there is. The value's table of keys, if it has one, is keyed by `seed`.
  void Begin(Type type, uint64_t seed, ZoneSource& zones);
  Refusal Add(std::string_view part);
  // Whether all parts have come.
  bool complete() const { return complete_; }
  // Gives the value to the batch. Requires complete() (asserted).
  void Give(const KeyHead& head, ValueBatch& batch);

 private:
  void Clear();
  Refusal AddPacked(std::string_view block);

  Type type_ = Type::kHits;
  uint64_t seed_ = 0;
  ZoneSource* zones_ = nullptr;
  void* heap_ = nullptr;  // null while there is no run
  std::string packed_;
  bool complete_ = false;
};

}  // namespace tally::rdb
