// A value that stands packed in its key's record while it is small, and on the heap beyond that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/keyspace/keyspace.h"
#include "server/command/command_context.h"

namespace tally::server {

// T has Clear, LoadPacked, SavePacked and empty. If it has ExpiresAt, that is the key's deadline:
// the key lives exactly as long as something in it can count.
template <typename T>
class CompactValue {
 public:
  // Small values are read into `scratch`.
  explicit CompactValue(T& scratch) : scratch_(scratch), value_(&scratch) {}

  // The value of the key, empty if it is absent. False after replying WRONGTYPE.
  [[nodiscard]] bool Read(CommandContext& context, std::string_view key) {
    return Open(context, context.Find(key));
  }
  [[nodiscard]] bool Write(CommandContext& context, std::string_view key) {
    return Open(context, context.FindForWrite(key));
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
    int64_t deadline = Keyspace::kKeepDeadline;
    if constexpr (requires { value_->ExpiresAt(); }) deadline = value_->ExpiresAt();
    if (value_ != &scratch_) {
      if (deadline != Keyspace::kKeepDeadline) keyspace.SetDeadline(entry_, deadline);
      return;
    }
    std::string& bytes = context.host.scratch.bytes;
    bytes.clear();
    if (!scratch_.SavePacked(bytes)) {
      keyspace.SetHeap(key, new T(std::move(scratch_)), deadline, context.now);
    } else if (exists()) {
      keyspace.UpdatePacked(entry_, bytes, deadline, context.now);
    } else {
      keyspace.SetPacked(key, T::kType, bytes, deadline, context.now);
    }
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
  bool Open(CommandContext& context, const Keyspace::Entry& entry) {
    if (!entry) {
      scratch_.Clear();
      return true;
    }
    if (!context.CheckType(entry, T::kType)) return false;
    Take(entry);
    return true;
  }

  T& scratch_;
  T* value_;
  Keyspace::Entry entry_;
};

}  // namespace tally::server
