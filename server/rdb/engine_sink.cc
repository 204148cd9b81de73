#include "server/rdb/engine_sink.h"

#include <algorithm>
#include <utility>

#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"
#include "core/limit/policy_table.h"
#include "server/rdb/native_types.h"

namespace tally::rdb {
namespace {

constexpr size_t kMostNumbers = 1'024;
constexpr Refusal kElementTwice = "an element that its key has already";
constexpr Refusal kBadPolicies = "the policies of tally.so are malformed";
constexpr std::string_view kFieldDeadlines = "hash whose fields have deadlines";

SetLimits SetLimitsOf(const ValueLimits& limits) {
  return {static_cast<size_t>(limits.set_max_intset_entries)};
}

HashLimits HashLimitsOf(const ValueLimits& limits) {
  return {static_cast<size_t>(limits.hash_max_listpack_entries),
          static_cast<size_t>(limits.hash_max_listpack_value)};
}

ZSetLimits ZSetLimitsOf(const ValueLimits& limits) {
  return {static_cast<size_t>(limits.zset_max_listpack_entries),
          static_cast<size_t>(limits.zset_max_listpack_value)};
}

}  // namespace

Refusal EngineSink::Database(uint64_t database) {
  if (database >= engine_.databases()) return "a database beyond those that are configured";
  const Refusal refusal = Flush();
  database_ = database;
  return refusal;
}

void EngineSink::KeyCount(uint64_t keys) {
  if (keyspace().size() == 0) keyspace().Reserve(std::min(keys, most_keys_));
}

bool EngineSink::Enter(const KeyHead& head) {
  head_ = &head;
  const bool expired = head.deadline_ms != kNoDeadline && head.deadline_ms < now_ms_;
  state_ = expired && !options_.keep_expired ? State::kExpired : State::kTaken;
  return state_ == State::kTaken;
}

Refusal EngineSink::Begin(const KeyHead& head, Kind kind) {
  kind_ = kind;
  if (!Enter(head)) return {};
  switch (kind) {
    case Kind::kString:
      break;
    case Kind::kList:
      list_ = std::make_unique<List>();
      numbers_.clear();
      break;
    case Kind::kSet:
      set_.Clear();
      break;
    case Kind::kZSet:
      zset_.Clear();
      break;
    case Kind::kHash:
      hash_.Clear();
      break;
  }
  return {};
}

Refusal EngineSink::Text(std::string_view text) {
  if (state_ == State::kTaken) batch_.AddText(*head_, text);
  return {};
}

Refusal EngineSink::Element(std::string_view element) {
  if (state_ != State::kTaken) return {};
  if (kind_ == Kind::kList) {
    PassNumbers();
    list_->PushBack(element);
    return {};
  }
  return set_.Insert(element, SetLimitsOf(limits_)) ? Refusal() : kElementTwice;
}

Refusal EngineSink::Number(int64_t number) {
  if (state_ != State::kTaken) return {};
  if (kind_ == Kind::kString) {
    batch_.AddInteger(*head_, number);
    return {};
  }
  if (kind_ == Kind::kList) {
    numbers_.push_back(number);
    if (numbers_.size() == kMostNumbers) PassNumbers();
    return {};
  }
  return set_.Insert(number, SetLimitsOf(limits_)) ? Refusal() : kElementTwice;
}

void EngineSink::PassNumbers() {
  list_->PushBack(numbers_);
  numbers_.clear();
}

Refusal EngineSink::Scored(std::string_view member, double score) {
  if (state_ != State::kTaken) return {};
  const AddResult result = zset_.Set(member, score, ZSetLimitsOf(limits_));
  return result == AddResult::kAdded ? Refusal() : kElementTwice;
}

Refusal EngineSink::Field(std::string_view field, std::string_view value, int64_t deadline_ms) {
  if (state_ != State::kTaken) return {};
  if (deadline_ms != kNoDeadline) {
    if (!options_.drop_field_deadlines) {
      state_ = State::kUnknown;
      return {};
    }
    if (deadline_ms < now_ms_ && !options_.keep_expired) return {};
  }
  return hash_.Set(field, value, HashLimitsOf(limits_)) ? Refusal() : kElementTwice;
}

Refusal EngineSink::End() {
  switch (state_) {
    case State::kTaken:
      return Store();
    case State::kNative:
      return StoreNative();
    case State::kExpired:
      ++expired_;
      return {};
    case State::kUnknown:
      skipped_.Add(kFieldDeadlines, head_->database, head_->key);
      return {};
    case State::kPolicies:
      return policies_counted_ && policies_left_ == 0 ? Refusal() : kBadPolicies;
  }
  return {};
}

template <typename Value>
void EngineSink::StoreFilled(Type type, Value& value) {
  if (value.is_small()) return batch_.AddHeap(*head_, type, new Value(value.Clone()));
  batch_.AddHeap(*head_, type, new Value(std::move(value)));
  value = Value(engine_.seed());
}

Refusal EngineSink::Store() {
  if (kind_ == Kind::kList) PassNumbers();
  const bool is_empty =
      (kind_ == Kind::kList && list_->empty()) || (kind_ == Kind::kSet && set_.empty()) ||
      (kind_ == Kind::kZSet && zset_.empty()) || (kind_ == Kind::kHash && hash_.empty());
  if (is_empty) {
    ++empty_;
    return {};
  }
  switch (kind_) {
    case Kind::kString:
      break;
    case Kind::kList:
      batch_.AddHeap(*head_, Type::kList, list_.release());
      break;
    case Kind::kSet:
      StoreFilled(Type::kSet, set_);
      break;
    case Kind::kZSet:
      StoreFilled(Type::kZSet, zset_);
      break;
    case Kind::kHash:
      StoreHash();
      break;
  }
  return Added();
}

void EngineSink::StoreHash() {
  bytes_.clear();
  if (hash_.SavePacked(bytes_)) {
    batch_.AddPacked(*head_, Type::kHash, bytes_);
  } else {
    batch_.AddHeap(*head_, Type::kHash, new Hash(std::move(hash_)));
    hash_ = Hash(engine_.seed());
  }
}

Refusal EngineSink::Added() { return batch_.full() ? Flush() : Refusal(); }

Refusal EngineSink::Flush() {
  if (options_.replace) batch_.RemoveOld(keyspace(), now_ms_);
  const auto known = batch_.Store(keyspace(), now_ms_);
  if (!known || options_.replace) return {};
  refusal_ =
      StrCat("a key that is there already: ", Printable(known->key), ", at offset ", known->offset);
  return refusal_;
}

bool EngineSink::BeginModule(const KeyHead* head, std::string_view name, uint64_t version) {
  const auto type = version == kNativeVersion ? NativeType(name) : std::nullopt;
  if (head == nullptr && type == Type::kLimit) {
    state_ = State::kPolicies;
    policies_counted_ = false;
    return true;
  }
  if (type && head != nullptr) {
    if (Enter(*head)) state_ = State::kNative;
    native_.Begin(*type, keyspace().seed(), engine_.zones());
    return true;
  }
  if (head == nullptr) {
    skipped_.Add("data of a module", 0, name);
  } else {
    skipped_.Add(StrCat("value of the module type ", name), head->database, head->key);
  }
  return false;
}

Refusal EngineSink::ModuleText(std::string_view text) {
  if (state_ == State::kNative) return native_.Add(text);
  if (state_ != State::kPolicies) return {};
  if (policies_left_ == 0) return kBadPolicies;
  --policies_left_;
  return engine_.policies().Load(text) ? Refusal() : kBadPolicies;
}

Refusal EngineSink::ModuleNumber(uint64_t number) {
  if (state_ == State::kExpired) return {};
  if (state_ != State::kPolicies || policies_counted_) return kBadPolicies;
  policies_counted_ = true;
  policies_left_ = number;
  return {};
}

Refusal EngineSink::StoreNative() {
  if (!native_.complete()) return "a value of tally.so ends early";
  native_.Give(*head_, batch_);
  return Added();
}

void EngineSink::Skipped(std::string_view kind, uint64_t database, std::string_view name) {
  skipped_.Add(kind, database, name);
}

}  // namespace tally::rdb
