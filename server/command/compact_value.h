// A value that stands packed in its key's record while it is small, and on the heap beyond that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/keyspace/keyspace.h"
#include "server/command/command_context.h"

namespace tally::server {

// T is empty by default, and has Clear, Load, Save, ExpiresAt, empty and kMaxPackedBytes. The key's
// deadline is what ExpiresAt tells: the key lives exactly as long as something in it can count.
template <typename T>
class CompactValue {
 public:
  // Small values are read into `scratch`.
  explicit CompactValue(T& scratch) : scratch_(scratch), value_(&scratch) {}

  // The value of the key, empty if it is absent. False after replying WRONGTYPE.
  [[nodiscard]] bool Read(CommandContext& context, std::string_view key) {
    return Unpack(context, context.Find(key));
  }
  [[nodiscard]] bool Write(CommandContext& context, std::string_view key) {
    return Unpack(context, context.FindForWrite(key));
  }

  // Whether the key was there.
  bool exists() const { return static_cast<bool>(entry_); }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

  // To be called before Store where other keys were looked up since Write: they may have moved it.
  void FindAgain(CommandContext& context, std::string_view key) {
    if (exists()) entry_ = context.FindForWrite(key);
  }

  // Puts back what was changed since Write; a value that became empty ends its key.
  void Store(CommandContext& context, std::string_view key) {
    Keyspace& keyspace = context.keyspace();
    if (value_->empty()) {
      if (exists()) context.RemoveEmpty(key);
      return;
    }
    const int64_t deadline = value_->ExpiresAt();
    if (value_ != &scratch_) {
      keyspace.SetDeadline(entry_, deadline);
      return;
    }
    std::string& bytes = context.server.scratch.bytes;
    bytes.clear();
    Check(scratch_.Save(0, SIZE_MAX, bytes) == 0, "a small value is saved in one run");
    if (bytes.size() > T::kMaxPackedBytes) {
      keyspace.SetHeap(key, new T(std::exchange(scratch_, T())), deadline, context.now);
    } else if (exists()) {
      keyspace.UpdatePacked(entry_, bytes, deadline, context.now);
    } else {
      keyspace.SetPacked(key, T::kType, bytes, deadline, context.now);
    }
  }

 private:
  bool Unpack(CommandContext& context, const Keyspace::Entry& entry) {
    scratch_.Clear();
    entry_ = entry;
    if (!entry) return true;
    if (!context.CheckType(entry, T::kType)) return false;
    if (entry.is_heap()) {
      value_ = &entry.heap<T>();
    } else {
      Check(scratch_.Load(entry.bytes()), "a packed value is well formed");
    }
    return true;
  }

  T& scratch_;
  T* value_;
  Keyspace::Entry entry_;
};

}  // namespace tally::server
