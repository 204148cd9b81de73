// Puts the values of an RDB into an engine, several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "core/engine/value_limits.h"
#include "core/hash/hash.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/zset/zset.h"
#include "server/rdb/native_value.h"
#include "server/rdb/rdb_sink.h"
#include "server/rdb/skipped_values.h"
#include "server/rdb/value_batch.h"

namespace tally::rdb {

class EngineSink final : public RdbSink {
 public:
  struct Options {
    // Keys whose deadline has passed are kept: a log that follows goes on from them.
    bool keep_expired = false;
    // A hash whose fields have deadlines is taken without these; otherwise it is skipped.
    bool drop_field_deadlines = false;
    // A key that is there already is replaced, when the new value is complete.
    bool replace = false;
  };

  // All three must outlive the sink. What has no type here is noted in `skipped`.
  EngineSink(Engine& engine, const ValueLimits& limits, SkippedValues& skipped, Options options)
      : engine_(engine),
        limits_(limits),
        skipped_(skipped),
        options_(options),
        set_(engine.seed()),
        zset_(engine.seed()),
        hash_(engine.seed()) {}

  // The present instant, in unix ms.
  void set_now(int64_t now_ms) { now_ms_ = now_ms; }
  // No database will be told to hold more keys than this when it is prepared for them.
  void set_most_keys(uint64_t keys) { most_keys_ = keys; }

  // Keys that were not taken: their deadline had passed, or they had no elements.
  uint64_t expired() const { return expired_; }
  uint64_t empty() const { return empty_; }

  Refusal Database(uint64_t database) override;
  void KeyCount(uint64_t keys) override;
  Refusal Begin(const KeyHead& head, Kind kind) override;
  Refusal Text(std::string_view text) override;
  Refusal Element(std::string_view element) override;
  Refusal Number(int64_t number) override;
  Refusal Scored(std::string_view member, double score) override;
  Refusal Field(std::string_view field, std::string_view value, int64_t deadline_ms) override;
  Refusal End() override;
  bool BeginModule(const KeyHead* head, std::string_view name, uint64_t version) override;
  Refusal ModuleText(std::string_view text) override;
  Refusal ModuleNumber(uint64_t number) override;
  void Skipped(std::string_view kind, uint64_t database, std::string_view name) override;
  Refusal Flush() override;

 private:
  enum class State : uint8_t { kTaken, kExpired, kUnknown, kNative, kPolicies };

  // Whether the key that begins is taken.
  bool Enter(const KeyHead& head);
  Keyspace& keyspace() { return engine_.database(database_); }
  void PassNumbers();
  Refusal Store();
  // Stores a set or a sorted set, which is then to be filled anew.
  template <typename Value>
  void StoreFilled(Type type, Value& value);
  void StoreHash();
  Refusal StoreNative();
  // A value was added to the batch.
  Refusal Added();

  Engine& engine_;
  const ValueLimits& limits_;
  SkippedValues& skipped_;
  const Options options_;
  int64_t now_ms_ = 0;
  uint64_t most_keys_ = UINT64_MAX;
  uint64_t expired_ = 0;
  uint64_t empty_ = 0;
  size_t database_ = 0;

  // The key that is read.
  State state_ = State::kTaken;
  const KeyHead* head_ = nullptr;
  Kind kind_ = Kind::kString;
  std::unique_ptr<List> list_;
  std::vector<int64_t> numbers_;  // the latest elements of the list, which it has not got yet
  // These are filled for one key after the other, and stored as a copy of just their size unless
  // they have become large.
  Set set_;
  ZSet zset_;
  Hash hash_;
  std::string bytes_;  // of a packed hash
  NativeValue native_;
  uint64_t policies_left_ = 0;
  bool policies_counted_ = false;

  ValueBatch batch_;     // of the database `database_`
  std::string refusal_;  // the text of the last one that is not constant
};

}  // namespace tally::rdb
