// One database: keys with a type, a value, a deadline and an access mark.
//
// A key's record (see RecordTable) has this payload:
//   1 byte   type (low 4 bits), has-deadline, storage (2 bits), raw
//   3 bytes  access mark
//   8 bytes  deadline, unix ms, if it has one
//   value    bytes of a short string or of another packed value; or an int64; or a heap pointer
// so that a counter with a deadline costs 22 bytes beside its key and its place in the index.
//
// Deadlines need no memory of their own: each segment knows a lower bound of what is due in it, and
// the segments are ordered by that bound. Not thread-safe; an Entry is valid until the next call
// that changes the keyspace.
#pragma once

#include <absl/container/btree_set.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/base/type.h"
#include "core/bytes/text.h"
#include "core/keyspace/access.h"
#include "core/keyspace/reclaimer.h"
#include "core/keyspace/value.h"
#include "core/table/record_table.h"

namespace tally {

inline constexpr int64_t kNoDeadline = INT64_MAX;

class Keyspace final : private RecordTable::SplitObserver {
 public:
  using Segment = RecordTable::Segment;

  class Entry {
   public:
    Entry() = default;
    explicit operator bool() const { return static_cast<bool>(record_); }

    std::string_view key() const { return record_.key(); }
    Type type() const { return static_cast<Type>(bits() & kTypeMask); }
    // Unix ms; kNoDeadline if it has none.
    int64_t deadline() const;
    bool expired(int64_t now) const { return has_deadline() && deadline() <= now; }
    // 24 bits: see access.h.
    uint32_t access() const;
    void set_access(uint32_t mark);

    bool is_integer() const { return storage() == Storage::kInteger; }
    bool is_heap() const { return storage() == Storage::kHeap; }
    // Strings changed in place count as raw for OBJECT ENCODING.
    bool is_raw() const { return (bits() & kRawBit) != 0; }
    int64_t integer() const;
    // Only if is_integer().
    void set_integer(int64_t value);
    // The bytes of a string that is no integer, or of a packed value.
    std::string_view bytes() const;
    // The heap value; only if is_heap() and the type fits.
    template <typename T>
    T& heap() const {
      Check(is_heap() && type() == kTypeOf<T>, "the entry holds a heap value of this type");
      return *static_cast<T*>(pointer());
    }
    void* pointer() const;

   private:
    friend class Keyspace;
    enum class Storage : uint8_t { kBytes = 0, kInteger = 1, kHeap = 2 };
    static constexpr uint8_t kTypeMask = 0x0F;
    static constexpr uint8_t kDeadlineBit = 0x10;
    static constexpr int kStorageShift = 5;
    static constexpr uint8_t kRawBit = 0x80;

    explicit Entry(const RecordTable::Record& record) : record_(record) {}
    uint8_t bits() const { return static_cast<uint8_t>(record_.data()[0]); }
    bool has_deadline() const { return (bits() & kDeadlineBit) != 0; }
    Storage storage() const { return static_cast<Storage>((bits() >> kStorageShift) & 3); }
    size_t value_offset() const { return has_deadline() ? 12 : 4; }
    char* value() const { return record_.data() + value_offset(); }

    RecordTable::Record record_;
  };

  // Told of what the keyspace does by itself.
  class Observer {
   public:
    // The key is about to be removed because its deadline has passed.
    virtual void OnExpired(Keyspace& keyspace, std::string_view key) = 0;
    // The key, absent before, is about to get a value.
    virtual void OnCreated(Keyspace& keyspace, std::string_view key) {
      (void)keyspace;
      (void)key;
    }
    // In a segment of an older epoch the key is about to change, or to be made: then there is no
    // entry. Told of each change until the observer raises the segment's epoch.
    virtual void BeforeChange(Keyspace& keyspace, Segment& segment, std::string_view key,
                              const Entry& entry) = 0;
    // While there is an epoch: a heap value may be about to change in place.
    virtual void BeforeValueChange(void* value) { (void)value; }
    // And a heap value is about to be freed. True if the observer keeps it, to give it to the
    // reclaimer later.
    virtual bool KeepValue(Type type, void* value) {
      (void)type;
      (void)value;
      return false;
    }

   protected:
    ~Observer() = default;
  };

  Keyspace(uint64_t seed, Reclaimer& reclaimer);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  void set_observer(Observer* observer) { observer_ = observer; }
  // Segments whose epoch is lower are shown to the observer before they change; 0 for none.
  void set_epoch(uint64_t epoch) { epoch_ = epoch; }
  // How access marks are kept from now on; those that are there are read that way too.
  void set_access_tracking(const AccessTracking& tracking) { tracking_ = tracking; }
  const AccessTracking& access_tracking() const { return tracking_; }
  // While a log is replayed keys end by its records only, never by their deadlines.
  void set_expiring(bool expiring) { expiring_ = expiring; }

  // All that take `now` remove the key first if its deadline has passed. O(1).
  // Find marks the access; Peek does not, and leaves expired keys where they are, unseen, or seen
  // if it is not given the time.
  Entry Find(std::string_view key, int64_t now);
  Entry FindForWrite(std::string_view key, int64_t now);
  Entry Peek(std::string_view key, int64_t now = INT64_MIN) const;
  void ExpireIfDue(std::string_view key, int64_t now);

  // Brings into the cache what finding these keys will read. For a few keys at a time: it overlaps
  // misses that would otherwise come one after the other.
  void Prefetch(std::span<const std::string_view> keys) const { table_.Prefetch(keys); }
  // The same for keys, most of them absent, that are about to be set.
  void PrefetchInsertions(std::span<const std::string_view> keys) const {
    table_.PrefetchInsertions(keys);
  }
  // Prepares a new keyspace for about this many keys; see RecordTable::Reserve.
  void Reserve(size_t keys) { table_.Reserve(keys); }

  // These replace whatever the key holds; `deadline` may be kNoDeadline, or kKeepDeadline.
  static constexpr int64_t kKeepDeadline = INT64_MIN;
  void SetString(std::string_view key, std::string_view value, int64_t deadline, int64_t now);
  // A long string, which is not copied.
  void SetText(std::string_view key, Text value, int64_t deadline, int64_t now);
  void SetInteger(std::string_view key, int64_t value, int64_t deadline, int64_t now);
  // A packed value of another type, small enough to be moved around with its record.
  void SetPacked(std::string_view key, Type type, std::string_view bytes, int64_t deadline,
                 int64_t now);
  // The same for a key that holds a packed value of that type already: in place, if size allows.
  void UpdatePacked(const Entry& entry, std::string_view bytes, int64_t deadline, int64_t now);
  template <typename T>
  T& SetHeap(std::string_view key, T* value, int64_t deadline, int64_t now) {
    SetPointer(key, kTypeOf<T>, value, deadline, now);
    return *value;
  }
  void SetPointer(std::string_view key, Type type, void* value, int64_t deadline, int64_t now);

  // The string as a Text on the heap, to be changed in place; raw from now on.
  Text& MutableString(const Entry& entry);

  // kNoDeadline takes it off. The entry stays valid for this call only; the new place is returned.
  Entry SetDeadline(const Entry& entry, int64_t deadline);
  void Erase(const Entry& entry);
  // Takes the heap value out, leaving no key.
  void* Release(const Entry& entry);

  size_t size() const { return table_.size(); }
  // Keys with a deadline.
  size_t expires() const { return expires_; }
  // Keys that hold a value of the type.
  size_t size_of(Type type) const { return by_type_[static_cast<size_t>(type)]; }
  // How long keys may have been due that are still there, in ms; 0 if none is.
  int64_t expiry_lag_ms(int64_t now) const {
    return due_.empty() || due_.begin()->first > now ? 0 : now - due_.begin()->first;
  }
  // Sum over the table; heap values are counted by the allocator.
  size_t table_bytes() const { return table_.MemoryBytes(); }

  // Hands the content to the reclaimer. O(1).
  void Clear();
  void Swap(Keyspace& other);

  // Removes the keys due in the segment that has been due longest; false when none is due.
  // `interval_ms`: a segment is looked at no more often than this.
  bool ExpireSegment(int64_t now, int64_t interval_ms = 200);
  // Lets the next one, in turn, of the values that age by themselves (ValueOperations::sweep) free
  // what is out of date in it, and removes its key as an expired one when nothing is left.
  void SweepNext(int64_t now, size_t budget);
  // How many such values there are.
  size_t aging() const { return aging_.size(); }
  // Keys that are due are shown too.
  uint64_t Scan(uint64_t cursor, size_t count,
                const std::function<void(const Entry&)>& visit) const;
  Entry Sample(uint64_t random) const { return Entry(table_.Sample(random)); }
  Segment* NextSegment(uint64_t& position) const { return table_.NextSegment(position); }
  // The segments with deadlines in turn, and perhaps some of which the last deadline has gone. A
  // default place begins; null at the end. O(log segments).
  struct DuePlace {
    int64_t due = INT64_MIN;
    Segment* segment = nullptr;
  };
  Segment* NextDueSegment(DuePlace& place) const;
  // It has turned out that no key in the segment has a deadline.
  void NothingDue(Segment& segment) { Schedule(segment, Segment::kNothingDue); }
  // Gives back what erased keys of the segment took.
  void Pack(Segment& segment) { table_.Pack(segment); }
  template <typename Visit>
  void ForEach(const Segment& segment, Visit&& visit) const {
    table_.ForEach(segment, [&](const RecordTable::Record& record) { visit(Entry(record)); });
  }

  uint64_t seed() const { return seed_; }

  // The heap value of a record, null if it has none.
  static std::pair<Type, void*> HeapValueOf(const RecordTable::Record& record);

 private:
  using Storage = Entry::Storage;

  void OnSplit(Segment& from, Segment& into) override;
  void NoteDue(Segment& segment, int64_t deadline);
  void Schedule(Segment& segment, int64_t due);
  void BeforeChange(const Entry& entry) {
    Segment& segment = entry.record_.segment();
    if (segment.epoch < epoch_) [[unlikely]]
      observer_->BeforeChange(*this, segment, entry.key(), entry);
  }
  void BeforeValueChange(const Entry& entry) {
    if (epoch_ != 0) [[unlikely]]
      observer_->BeforeValueChange(entry.pointer());
  }
  void Expire(const Entry& entry);
  // The mark of a key that is being used, and of one that is being made.
  uint32_t UsedMark(const Entry& entry, int64_t now) {
    return tracking_.by_frequency ? UsedFrequencyMark(entry.access(), tracking_, now, NextRandom())
                                  : TimeMark(now);
  }
  uint32_t NewMark(int64_t now) const {
    return tracking_.by_frequency ? NewFrequencyMark(now) : TimeMark(now);
  }
  uint64_t NextRandom();
  // The entry is about to lose its heap value.
  void ForgetAging(const Entry& entry);
  void FreeValue(const Entry& entry);
  size_t& CountOf(Type type) { return by_type_[static_cast<size_t>(type)]; }
  // The entry is about to lose its place.
  void Uncount(const Entry& entry) {
    --CountOf(entry.type());
    if (entry.has_deadline()) --expires_;
  }
  // The key's record with room for a value of the given size; its old value is freed.
  Entry Shape(std::string_view key, Type type, Storage storage, size_t value_size, int64_t deadline,
              int64_t now);

  uint64_t seed_;
  Reclaimer& reclaimer_;
  RecordTable table_;
  absl::btree_set<std::pair<int64_t, Segment*>> due_;
  absl::btree_set<std::string> aging_;  // keys
  std::string last_swept_;
  Observer* observer_ = nullptr;
  uint64_t epoch_ = 0;
  AccessTracking tracking_;
  uint64_t random_;
  bool expiring_ = true;
  size_t expires_ = 0;
  std::array<size_t, kTypeCount> by_type_{};
};

}  // namespace tally
