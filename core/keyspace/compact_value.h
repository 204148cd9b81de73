// A value that is packed in its key's record while it is small, and on the heap beyond that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/keyspace/keyspace.h"

namespace tally {

// T has Clear, LoadPacked, SavePacked and empty. If it has ExpiresAt, that is the key's deadline:
// the key lives exactly as long as something in it can count.
template <typename T>
class CompactValue {
 public:
  // Small values are read into `scratch`.
  explicit CompactValue(T& scratch) : scratch_(scratch), value_(&scratch) {}

  // The value of a key's entry, empty if there is none. False if it is of another type.
  [[nodiscard]] bool Open(const Keyspace::Entry& entry) {
    if (!entry) {
      scratch_.Clear();
      return true;
    }
    if (entry.type() != T::kType) return false;
    Take(entry);
    return true;
  }

  // Whether the key was there.
  bool exists() const { return static_cast<bool>(entry_); }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

  // To be called before Store where other keys were looked up since Open: they may have moved it.
  void FindAgain(Keyspace& keyspace, std::string_view key, int64_t now) {
    if (exists()) entry_ = keyspace.FindForWrite(key, now);
  }

  // Puts back what was changed since Open, whose entry was found to be written. `bytes` is reused
  // memory. True if the value became empty and has ended its key.
  bool Store(Keyspace& keyspace, std::string_view key, int64_t now, std::string& bytes) {
    if (value_->empty()) {
      if (exists()) keyspace.Erase(entry_);
      return exists();
    }
    int64_t deadline = Keyspace::kKeepDeadline;
    if constexpr (requires { value_->ExpiresAt(); }) deadline = value_->ExpiresAt();
    if (value_ != &scratch_) {
      if (deadline != Keyspace::kKeepDeadline) keyspace.SetDeadline(entry_, deadline);
      return false;
    }
    bytes.clear();
    if (!scratch_.SavePacked(bytes)) {
      keyspace.SetHeap(key, new T(std::move(scratch_)), deadline, now);
    } else if (exists()) {
      keyspace.UpdatePacked(entry_, bytes, deadline, now);
    } else {
      keyspace.SetPacked(key, T::kType, bytes, deadline, now);
    }
    return false;
  }

  // Takes the value of an entry of the type.
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
