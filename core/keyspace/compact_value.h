// A value that is packed in its key's record while it is small, and on the heap when it is larger.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/keyspace/keyspace.h"

namespace tally {

// T has Clear, LoadPacked, SavePacked and empty. If T has ExpiresAt, Store makes that the key's
// deadline: the key lives exactly as long as something in it can count.
template <typename T>
class CompactValue {
 public:
  // Small values are read into `scratch`.
  explicit CompactValue(T& scratch) : scratch_(scratch), value_(&scratch) {}

  // Opens the value of a key's entry, or an empty value if there is no entry. Returns false if the
  // entry has another type.
  [[nodiscard]] bool Open(const Keyspace::Entry& entry) {
    if (!entry) {
      scratch_.Clear();
      return true;
    }
    if (entry.type() != T::kType) return false;
    Take(entry);
    return true;
  }

  // Whether the key existed at Open.
  bool exists() const { return static_cast<bool>(entry_); }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

  // Must be called before Store if other keys were looked up or stored since Open: that may have
  // moved this key's record.
  void Relocate(Keyspace& keyspace, std::string_view key, int64_t now_ms) {
    if (exists()) entry_ = keyspace.FindForWrite(key, now_ms);
  }

  // Writes the value back after changes. The entry given to Open must come from FindForWrite.
  // `bytes` is a buffer to reuse. Returns true if the value is empty and its key was erased.
  bool Store(Keyspace& keyspace, std::string_view key, int64_t now_ms, std::string& bytes) {
    if (value_->empty()) {
      if (exists()) keyspace.Erase(entry_);
      return exists();
    }
    int64_t deadline_ms = Keyspace::kKeepDeadline;
    if constexpr (requires { value_->ExpiresAt(); }) deadline_ms = value_->ExpiresAt();
    if (value_ != &scratch_) {
      if (deadline_ms != Keyspace::kKeepDeadline) keyspace.SetDeadline(entry_, deadline_ms);
      return false;
    }
    bytes.clear();
    if (!scratch_.SavePacked(bytes)) {
      keyspace.SetHeap(key, new T(std::move(scratch_)), deadline_ms, now_ms);
    } else if (exists()) {
      keyspace.UpdatePacked(entry_, bytes, deadline_ms, now_ms);
    } else {
      keyspace.SetPacked(key, T::kType, bytes, deadline_ms, now_ms);
    }
    return false;
  }

  // Opens the value of an entry whose type is T::kType (not checked).
  void Take(const Keyspace::Entry& entry) {
    entry_ = entry;
    if (entry.is_heap()) {
      value_ = &entry.heap<T>();
    } else {
      Check(scratch_.LoadPacked(entry.bytes()), "a packed value is well formed");
    }
  }

 private:
  T& scratch_;
  T* value_;
  Keyspace::Entry entry_;
};

}  // namespace tally
