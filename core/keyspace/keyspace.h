// One database: keys with a type, a value, a deadline and an access mark.
//
// There is no index of single deadlines. Each segment has an instant at which it is searched for
// expired keys: its earliest deadline or an earlier instant, or a little later if it has just been
// searched (see ExpireSegment). The segments are ordered by that instant. Not thread-safe; an Entry
// is valid until the next call that changes the keyspace.
#pragma once

#include <absl/container/btree_set.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/type.h"
#include "core/bytes/byte_range.h"
#include "core/keyspace/access.h"
#include "core/keyspace/keyspace_entry.h"
#include "core/keyspace/reclaimer.h"
#include "core/keyspace/value.h"
#include "core/table/due_segments.h"
#include "core/table/record_table.h"
#include "core/table/table_snapshot.h"

namespace tally {

// What happens to a key whose deadline has passed.
enum class Expiry : uint8_t {
  kRemove,  // it is removed by who finds it, and by ExpireSegment
  kHide,    // nobody finds it, and it stays: another server says when it is removed
  kIgnore,  // it is found as if it had no deadline, while a log is replayed that says when it ends
};

class Keyspace final : private RecordTable::SplitObserver {
 public:
  using Segment = RecordTable::Segment;
  using Entry = KeyspaceEntry;

  // Is notified of keys that expire or are created.
  class Observer {
   public:
    // The key is about to be removed because its deadline has passed.
    virtual void OnExpired(Keyspace& keyspace, std::string_view key) = 0;
    // Of a key that stays, this was freed because it was out of date at `at_ms`.
    virtual void OnSwept(Keyspace& keyspace, std::string_view key, int64_t at_ms,
                         const QuotaExpired& expired) {
      (void)keyspace;
      (void)key;
      (void)at_ms;
      (void)expired;
    }
    // The key, absent before, is about to get a value of the type.
    virtual void OnCreated(Keyspace& keyspace, Type type, std::string_view key) {
      (void)keyspace;
      (void)type;
      (void)key;
    }

   protected:
    ~Observer() = default;
  };

  // Is notified before something changes while a snapshot is being written.
  class SnapshotObserver {
   public:
    // The key, in a segment of an older epoch than the keyspace's, is about to change or to be
    // created; if it is to be created, `entry` is empty. Called for each change in the segment
    // until the observer raises the segment's epoch.
    virtual void BeforeChange(Keyspace& keyspace, Segment& segment, std::string_view key,
                              const Entry& entry) = 0;
    // A heap value may be about to change in place: of a string only these bytes, and its size.
    virtual void BeforeValueChange(void* value, ByteRange bytes) = 0;
    // A heap value is about to be freed. Returns true if the observer keeps it; the observer then
    // gives it to the reclaimer later.
    virtual bool KeepValue(void* value) = 0;

   protected:
    ~SnapshotObserver() = default;
  };

  Keyspace(uint64_t seed, Reclaimer& reclaimer);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  void set_observer(Observer* observer) { observer_ = observer; }
  // A snapshot begins: until EndSnapshot the observer is notified before a change in a segment with
  // a lower epoch. `epoch` must be above 0.
  void BeginSnapshot(uint64_t epoch, SnapshotObserver& observer) {
    epoch_ = epoch;
    snapshot_observer_ = &observer;
  }
  void EndSnapshot() {
    epoch_ = 0;
    snapshot_observer_ = nullptr;
  }
  // Sets how access marks are kept from now on. Existing marks are not converted, but are read in
  // the new way.
  void set_access_tracking(const AccessTracking& tracking) { tracking_ = tracking; }
  const AccessTracking& access_tracking() const { return tracking_; }
  void set_expiry(Expiry expiry) { expiry_ = expiry; }
  Expiry expiry() const { return expiry_; }
  // By how much later than their deadlines say quota books and audiences are removed; see
  // Engine::set_deletion_lag_ms. All other keys are removed at their deadlines.
  void set_deletion_lag_ms(int64_t ms) { deletion_lag_ms_ = ms; }
  // Whether the entry is there no more at `now_ms`, although it may not be removed yet.
  bool HasExpired(const Entry& entry, int64_t now_ms) const {
    if (!entry.expired(now_ms)) [[likely]]
      return false;
    return deletion_lag_ms_ == 0 || !OutlivesJumps(entry.type()) ||
           entry.expired(now_ms - deletion_lag_ms_);
  }

  // Find, FindForWrite, ExpireIfDue and the Set functions below first remove the key if its
  // deadline has passed; see set_expiry. O(1). Find and FindForWrite mark the access. FindForWrite
  // also notifies the observer: use it before changing an integer or a heap value in place. Peek
  // changes nothing: it does not mark the access and does not remove an expired key. It returns an
  // expired key only if it is called without `now_ms`.
  Entry Find(std::string_view key, int64_t now_ms);
  Entry FindForWrite(std::string_view key, int64_t now_ms);
  Entry Peek(std::string_view key, int64_t now_ms = INT64_MIN) const;
  void ExpireIfDue(std::string_view key, int64_t now_ms);

  // Fetches into the CPU cache what finding these keys will read, so that the cache misses overlap
  // instead of following one another. At most RecordTable::kMaxPrefetch keys (asserted).
  void Prefetch(std::span<const std::string_view> keys) const { table_.Prefetch(keys); }
  // The same for keys, most of them absent, that are about to be set.
  void PrefetchInsertions(std::span<const std::string_view> keys) const {
    table_.PrefetchInsertions(keys);
  }
  // Prepares a new keyspace for about this many keys; see RecordTable::Reserve.
  void Reserve(size_t keys) { table_.Reserve(keys); }

  // The Set functions replace whatever the key holds. `deadline_ms` is in unix ms, or kNoDeadline,
  // or kKeepDeadline to keep the key's deadline if it has one.
  static constexpr int64_t kKeepDeadline = INT64_MIN;
  void SetString(std::string_view key, std::string_view value, int64_t deadline_ms, int64_t now_ms);
  // Sets a string of more than 192 bytes (asserted), which is not copied.
  void SetText(std::string_view key, Text value, int64_t deadline_ms, int64_t now_ms);
  void SetInteger(std::string_view key, int64_t value, int64_t deadline_ms, int64_t now_ms);
  // Sets a packed value of another type. It should be small, because it moves with its record.
  void SetPacked(std::string_view key, Type type, std::string_view bytes, int64_t deadline_ms,
                 int64_t now_ms);
  // Replaces the packed value of a key that already holds one (asserted); in place if the size and
  // the deadline allow it.
  void UpdatePacked(const Entry& entry, std::string_view bytes, int64_t deadline_ms,
                    int64_t now_ms);
  // Set a heap value and take ownership of it.
  template <typename T>
  T& SetHeap(std::string_view key, T* value, int64_t deadline_ms, int64_t now_ms) {
    SetPointer(key, kTypeOf<T>, value, deadline_ms, now_ms);
    return *value;
  }
  void SetPointer(std::string_view key, Type type, void* value, int64_t deadline_ms,
                  int64_t now_ms);

  // Returns the string as a Text that may be changed in place; moves it to the heap if it is not
  // there. The key is_raw() from now on. The caller may change only `bytes` of the string, and may
  // append to it, so that a snapshot need not copy the rest.
  Text& MutableString(const Entry& entry, ByteRange bytes = {});

  // kNoDeadline removes the deadline. `entry` is not valid afterwards; the new entry is returned.
  Entry SetDeadline(const Entry& entry, int64_t deadline_ms);
  void Erase(const Entry& entry);
  // Erases the key but does not free its heap value. Returns the value, which the caller then owns;
  // null if the value is not on the heap.
  void* Release(const Entry& entry);

  size_t size() const { return table_.size(); }
  // Keys with a deadline.
  size_t expires() const { return expires_; }
  // Keys that hold a value of the type.
  size_t size_of(Type type) const { return by_type_[static_cast<size_t>(type)]; }
  // For how many ms the keys that are due but not yet removed may have been due; 0 if none is due.
  int64_t expiry_lag_ms(int64_t now_ms) const { return due_.LagMs(now_ms); }
  // The bytes of the table without those of heap values, which the allocator counts.
  size_t table_bytes() const { return table_.MemoryBytes(); }

  // Hands the whole content to the reclaimer. O(segments with deadlines + aging()).
  void Clear();
  void Swap(Keyspace& other);

  // Removes the expired keys of the segment that has been due longest; returns false if no segment
  // is due. The segment is not searched again for `interval_ms`, unless a key in it gets a deadline
  // before the next search.
  bool ExpireSegment(int64_t now_ms, int64_t interval_ms = 200);
  // Takes the next, in turn, of the values that age by themselves (ValueOperations::sweep), and
  // lets it free what is out of date in it. If nothing is left, removes its key as an expired one.
  void SweepNext(int64_t now_ms, size_t budget);
  // The number of values that age by themselves.
  size_t aging() const { return aging_.size(); }
  // After a load: prepares some of the values at or after the key `from`
  // (ValueOperations::prepare), and moves `from` on. Returns false when there is no such key.
  bool PrepareNext(std::string& from) const;
  // As RecordTable::Scan; shows expired keys too.
  uint64_t Scan(uint64_t cursor, size_t count,
                const std::function<void(const Entry&)>& visit) const;
  Entry Sample(uint64_t random) const { return Entry(table_.Sample(random)); }
  Segment* NextSegment(uint64_t& position) const { return table_.NextSegment(position); }
  // Returns the segments with deadlines, one with each call, and perhaps some whose last deadline
  // is gone; null at the end. Begins with a default-constructed place. O(log segments).
  using DuePosition = DueSegments::Position;
  Segment* NextDueSegment(DuePosition& position) const { return due_.Next(position); }
  // To be called when no key in the segment has a deadline any more: NextDueSegment then skips it.
  void NothingDue(Segment& segment) { due_.Schedule(segment, Segment::kNothingDue); }
  // Frees the memory that erased keys of the segment took. Its entries are not valid afterwards.
  void Pack(Segment& segment) { table_.Pack(segment); }
  template <typename Visit>
  void ForEach(const Segment& segment, Visit&& visit) const {
    table_.ForEach(segment, [&](const RecordTable::Record& record) { visit(Entry(record)); });
  }

  // See TableSnapshot.
  template <typename Save>
  bool SaveNext(TableSnapshot& snapshot, Save&& save) const {
    return snapshot.SaveNext(table_,
                             [&](const RecordTable::Record& record) { save(Entry(record)); });
  }
  template <typename Save>
  void SaveBeforeChange(TableSnapshot& snapshot, Segment& segment, std::string_view key,
                        const Entry& entry, Save&& save) const {
    snapshot.BeforeChange(table_, segment, key, entry.record_,
                          [&](const RecordTable::Record& record) { save(Entry(record)); });
  }

  uint64_t seed() const { return seed_; }

  // The type of a record's value, and its heap value; null if it is not on the heap.
  static std::pair<Type, void*> HeapValueOf(const RecordTable::Record& record);

 private:
  using Storage = Entry::Storage;

  static bool OutlivesJumps(Type type) { return type == Type::kQuota || type == Type::kActive; }

  void OnSplit(Segment& from, Segment& into) override;
  void BeforeChange(const Entry& entry) {
    Segment& segment = entry.record_.segment();
    if (segment.epoch < epoch_) [[unlikely]]
      snapshot_observer_->BeforeChange(*this, segment, entry.key(), entry);
  }
  void BeforeValueChange(const Entry& entry, ByteRange bytes = {}) {
    if (epoch_ != 0) [[unlikely]]
      snapshot_observer_->BeforeValueChange(entry.pointer(), bytes);
  }
  bool removes_expired() const { return expiry_ == Expiry::kRemove; }
  void Expire(const Entry& entry);
  // The new access mark of a key that is used, and the mark of a key that is created.
  uint32_t UsedMark(const Entry& entry, int64_t now_ms) {
    const int64_t passed = tracking_.Passed(now_ms);
    return tracking_.by_frequency
               ? UsedFrequencyMark(entry.access(), tracking_, passed, NextRandom())
               : TimeMark(passed);
  }
  uint32_t NewMark(int64_t now_ms) const {
    const int64_t passed = tracking_.Passed(now_ms);
    return tracking_.by_frequency ? NewFrequencyMark(passed) : TimeMark(passed);
  }
  uint64_t NextRandom();
  // Both are called before the entry loses its heap value.
  void ForgetAging(const Entry& entry);
  void FreeValue(const Entry& entry);
  size_t& CountOf(Type type) { return by_type_[static_cast<size_t>(type)]; }
  // Takes the entry out of the counts, before it is erased or its type and deadline are replaced.
  void Uncount(const Entry& entry) {
    --CountOf(entry.type());
    if (entry.has_deadline()) --expires_;
  }
  // Makes or resizes the key's record: writes all but the value, and leaves `value_size` bytes for
  // it. Frees the old value.
  Entry PrepareRecord(std::string_view key, Type type, Storage storage, size_t value_size,
                      int64_t deadline_ms, int64_t now_ms);

  uint64_t seed_;
  Reclaimer& reclaimer_;
  RecordTable table_;
  DueSegments due_;
  absl::btree_set<std::string> aging_;  // keys
  std::string last_swept_;
  Observer* observer_ = nullptr;
  SnapshotObserver* snapshot_observer_ = nullptr;  // null unless a snapshot is being written
  uint64_t epoch_ = 0;                             // 0 unless a snapshot is being written
  AccessTracking tracking_;
  uint64_t random_;
  Expiry expiry_ = Expiry::kRemove;
  int64_t deletion_lag_ms_ = 0;
  size_t expires_ = 0;
  std::array<size_t, kTypeCount> by_type_{};
};

}  // namespace tally
