#include "core/keyspace/keyspace.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "core/bytes/text.h"
#include "core/quota/quota_types.h"

namespace tally {
namespace {

// Longer strings live on the heap: moving them with their segment would cost more than it saves.
constexpr size_t kMaxInlineString = 192;

}  // namespace

Keyspace::Keyspace(uint64_t seed, Reclaimer& reclaimer)
    : seed_(seed), reclaimer_(reclaimer), table_(seed, this), random_(seed) {}

Keyspace::~Keyspace() { Clear(); }

Keyspace::Entry Keyspace::Find(std::string_view key, int64_t now_ms) {
  Entry entry(table_.Find(key));
  if (!entry) return entry;
  if (expiry_ != Expiry::kIgnore && HasExpired(entry, now_ms)) [[unlikely]] {
    if (expiry_ == Expiry::kRemove) Expire(entry);
    return {};
  }
  entry.set_access(UsedMark(entry, now_ms));
  return entry;
}

// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
uint64_t Keyspace::NextRandom() {
  uint64_t z = random_ += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

Keyspace::Entry Keyspace::FindForWrite(std::string_view key, int64_t now_ms) {
  Entry entry = Find(key, now_ms);
  if (!entry) return entry;
  BeforeChange(entry);
  // A string on the heap changes in place only through MutableString, which notifies by itself.
  if (entry.is_heap() && entry.type() != Type::kString) BeforeValueChange(entry);
  return entry;
}

Keyspace::Entry Keyspace::Peek(std::string_view key, int64_t now_ms) const {
  const Entry entry(table_.Find(key));
  const bool is_hidden = entry && expiry_ != Expiry::kIgnore && HasExpired(entry, now_ms);
  return is_hidden ? Entry() : entry;
}

void Keyspace::ExpireIfDue(std::string_view key, int64_t now_ms) {
  const Entry entry(table_.Find(key));
  if (entry && removes_expired() && HasExpired(entry, now_ms)) Expire(entry);
}

void Keyspace::Expire(const Entry& entry) {
  const std::string key(entry.key());
  if (observer_ != nullptr) observer_->OnExpired(*this, key);
  Erase(Entry(table_.Find(key)));
}

std::pair<Type, void*> Keyspace::HeapValueOf(const RecordTable::Record& record) {
  const Entry entry(record);
  return {entry.type(), entry.is_heap() ? entry.pointer() : nullptr};
}

void Keyspace::ForgetAging(const Entry& entry) {
  if (!aging_.empty() && OperationsOf(entry.type()).sweep != nullptr) {
    aging_.erase(std::string(entry.key()));
  }
}

void Keyspace::FreeValue(const Entry& entry) {
  if (!entry.is_heap()) return;
  ForgetAging(entry);
  if (epoch_ != 0 && snapshot_observer_->KeepValue(entry.pointer())) return;
  reclaimer_.Add(entry.type(), entry.pointer());
}

Keyspace::Entry Keyspace::PrepareRecord(std::string_view key, Type type, Storage storage,
                                        size_t value_size, int64_t deadline_ms, int64_t now_ms) {
  const uint64_t hash = table_.Hash(key);
  RecordTable::Record record = table_.Find(key, hash);
  if (record && removes_expired() && HasExpired(Entry(record), now_ms)) [[unlikely]] {
    Expire(Entry(record));
    record = {};
  }
  if (!record && observer_ != nullptr) observer_->OnCreated(*this, type, key);
  if (record) {
    BeforeChange(Entry(record));
  } else if (Segment& segment = table_.SegmentFor(hash); segment.epoch < epoch_) [[unlikely]] {
    snapshot_observer_->BeforeChange(*this, segment, key, {});
  }
  const uint32_t mark = record ? UsedMark(Entry(record), now_ms) : NewMark(now_ms);
  if (record) {
    const Entry old(record);
    FreeValue(old);
    if (deadline_ms == kKeepDeadline) deadline_ms = old.deadline_ms();
    Uncount(old);
  } else if (deadline_ms == kKeepDeadline) {
    deadline_ms = kNoDeadline;
  }
  const bool dated = deadline_ms != kNoDeadline;
  const size_t size = (dated ? 12 : 4) + value_size;
  record = record ? table_.Resize(record, size) : table_.Insert(key, hash, size);
  char* data = record.data();
  ++CountOf(type);
  data[0] = static_cast<char>(static_cast<uint8_t>(type) | (dated ? Entry::kDeadlineBit : 0) |
                              static_cast<uint8_t>(storage) << Entry::kStorageShift);
  Entry entry(record);
  entry.set_access(mark);
  if (dated) {
    std::memcpy(data + 4, &deadline_ms, sizeof deadline_ms);
    ++expires_;
    due_.Note(record.segment(), deadline_ms);
  }
  return entry;
}

void Keyspace::SetString(std::string_view key, std::string_view value, int64_t deadline_ms,
                         int64_t now_ms) {
  if (value.size() <= kMaxInt64Chars) {
    if (const auto number = ParseInt64(value)) return SetInteger(key, *number, deadline_ms, now_ms);
  }
  if (value.size() > kMaxInlineString) {
    return SetPointer(key, Type::kString, new Text(value), deadline_ms, now_ms);
  }
  const Entry entry =
      PrepareRecord(key, Type::kString, Storage::kBytes, value.size(), deadline_ms, now_ms);
  std::memcpy(entry.value(), value.data(), value.size());
}

void Keyspace::SetText(std::string_view key, Text value, int64_t deadline_ms, int64_t now_ms) {
  Check(value.size() > kMaxInlineString, "a text is too long for its key's record");
  SetPointer(key, Type::kString, new Text(std::move(value)), deadline_ms, now_ms);
}

void Keyspace::SetInteger(std::string_view key, int64_t value, int64_t deadline_ms,
                          int64_t now_ms) {
  const Entry entry =
      PrepareRecord(key, Type::kString, Storage::kInteger, sizeof value, deadline_ms, now_ms);
  std::memcpy(entry.value(), &value, sizeof value);
}

void Keyspace::SetPacked(std::string_view key, Type type, std::string_view bytes,
                         int64_t deadline_ms, int64_t now_ms) {
  const Entry entry = PrepareRecord(key, type, Storage::kBytes, bytes.size(), deadline_ms, now_ms);
  std::memcpy(entry.value(), bytes.data(), bytes.size());
}

void Keyspace::UpdatePacked(const Entry& entry, std::string_view bytes, int64_t deadline_ms,
                            int64_t now_ms) {
  Check(entry.storage() == Storage::kBytes, "the entry holds a packed value");
  const bool keeps_deadline = deadline_ms == kKeepDeadline;
  if (!keeps_deadline && (!entry.has_deadline() || deadline_ms == kNoDeadline)) {
    // A copy: the entry's key is in the record that is about to move.
    const std::string key(entry.key());
    return SetPacked(key, entry.type(), bytes, deadline_ms, now_ms);
  }
  BeforeChange(entry);
  const RecordTable::Record record =
      table_.Resize(entry.record_, entry.value_offset() + bytes.size());
  std::memcpy(Entry(record).value(), bytes.data(), bytes.size());
  if (keeps_deadline) return;
  std::memcpy(record.data() + 4, &deadline_ms, sizeof deadline_ms);
  due_.Note(record.segment(), deadline_ms);
}

void Keyspace::SetPointer(std::string_view key, Type type, void* value, int64_t deadline_ms,
                          int64_t now_ms) {
  const Entry entry = PrepareRecord(key, type, Storage::kHeap, sizeof value, deadline_ms, now_ms);
  std::memcpy(entry.value(), &value, sizeof value);
  if (OperationsOf(type).sweep != nullptr) aging_.emplace(key);
}

Text& Keyspace::MutableString(const Entry& entry, ByteRange bytes) {
  Check(entry.type() == Type::kString, "only strings are changed as strings");
  BeforeChange(entry);
  Entry place = entry;
  if (entry.is_heap()) {
    BeforeValueChange(entry, bytes);
  } else {
    auto text = std::make_unique<Text>(entry.is_integer() ? Int64Text(entry.integer()).view()
                                                          : entry.bytes());
    const size_t size = entry.value_offset() + sizeof(void*);
    place = Entry(table_.Resize(entry.record_, size));
    Text* pointer = text.release();
    std::memcpy(place.value(), &pointer, sizeof(void*));
    const uint8_t kept = place.bits() & (Entry::kTypeMask | Entry::kDeadlineBit);
    place.record_.data()[0] = static_cast<char>(
        kept | static_cast<uint8_t>(Storage::kHeap) << Entry::kStorageShift | Entry::kRawBit);
  }
  place.record_.data()[0] = static_cast<char>(place.bits() | Entry::kRawBit);
  return place.heap<Text>();
}

Keyspace::Entry Keyspace::SetDeadline(const Entry& entry, int64_t deadline_ms) {
  RecordTable::Record record = entry.record_;
  BeforeChange(entry);
  const bool had = entry.has_deadline();
  const bool has = deadline_ms != kNoDeadline;
  if (had != has) {
    const std::string value(record.payload().substr(entry.value_offset()));
    record = table_.Resize(record, (has ? 12 : 4) + value.size());
    record.data()[0] = static_cast<char>(record.data()[0] ^ Entry::kDeadlineBit);
    std::memcpy(record.data() + (has ? 12 : 4), value.data(), value.size());
    expires_ += has ? 1 : size_t{0} - 1;
  }
  if (has) {
    std::memcpy(record.data() + 4, &deadline_ms, sizeof deadline_ms);
    due_.Note(record.segment(), deadline_ms);
  }
  return Entry(record);
}

void Keyspace::Erase(const Entry& entry) {
  BeforeChange(entry);
  FreeValue(entry);
  Uncount(entry);
  table_.Erase(entry.record_);
}

void* Keyspace::Release(const Entry& entry) {
  BeforeChange(entry);
  void* value = entry.is_heap() ? entry.pointer() : nullptr;
  if (value != nullptr) ForgetAging(entry);
  Uncount(entry);
  table_.Erase(entry.record_);
  return value;
}

void Keyspace::Clear() {
  due_.Clear();
  aging_.clear();
  expires_ = 0;
  by_type_ = {};
  reclaimer_.Add(std::exchange(table_, RecordTable(seed_, this)));
  // Keys that are set from now on are not part of a snapshot that is under way.
  uint64_t position = 0;
  table_.NextSegment(position)->epoch = epoch_;
}

void Keyspace::Swap(Keyspace& other) {
  Check(epoch_ == other.epoch_, "swapped keyspaces are in the same snapshot");
  std::swap(table_, other.table_);
  table_.set_observer(this);
  other.table_.set_observer(&other);
  std::swap(due_, other.due_);
  std::swap(aging_, other.aging_);
  std::swap(expires_, other.expires_);
  std::swap(by_type_, other.by_type_);
}

void Keyspace::OnSplit(Segment& from, Segment& into) {
  (void)from;
  due_.Add(into);
}

bool Keyspace::ExpireSegment(int64_t now_ms, int64_t interval_ms) {
  Segment* const first = removes_expired() ? due_.First(now_ms) : nullptr;
  if (first == nullptr) return false;
  Segment& segment = *first;
  int64_t next_ms = Segment::kNothingDue;
  std::vector<std::string> due_keys;
  ForEach(segment, [&](const Entry& entry) {
    if (HasExpired(entry, now_ms)) {
      due_keys.emplace_back(entry.key());
    } else {
      next_ms = std::min(next_ms, entry.deadline_ms());
    }
  });
  due_.Schedule(
      segment, next_ms == Segment::kNothingDue ? next_ms : std::max(next_ms, now_ms + interval_ms));
  for (const std::string& key : due_keys) Expire(Entry(table_.Find(key)));
  return true;
}

void Keyspace::SweepNext(int64_t now_ms, size_t budget) {
  if (!removes_expired() || aging_.empty()) return;
  auto next = aging_.upper_bound(last_swept_);
  if (next == aging_.end()) next = aging_.begin();
  last_swept_ = *next;
  const Entry entry(table_.Find(last_swept_));
  Check(static_cast<bool>(entry), "a value that ages is in its keyspace");
  BeforeChange(entry);
  BeforeValueChange(entry);
  QuotaExpired expired;
  if (OperationsOf(entry.type()).sweep(entry.pointer(), now_ms, budget, expired))
    return Expire(entry);
  if (!expired.empty() && observer_ != nullptr)
    observer_->OnSwept(*this, entry.key(), now_ms, expired);
}

bool Keyspace::PrepareNext(std::string& from) const {
  const auto at = aging_.lower_bound(from);
  if (at == aging_.end()) return false;
  const Entry entry(table_.Find(*at));
  Check(static_cast<bool>(entry), "a value that ages is in its keyspace");
  const auto prepare = OperationsOf(entry.type()).prepare;
  from = *at;
  if (prepare == nullptr || !prepare(entry.pointer())) from.push_back('\0');
  return true;
}

uint64_t Keyspace::Scan(uint64_t cursor, size_t count,
                        const std::function<void(const Entry&)>& visit) const {
  return table_.Scan(cursor, count,
                     [&](const RecordTable::Record& record) { visit(Entry(record)); });
}

}  // namespace tally
