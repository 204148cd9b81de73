// Lends the values of a call's keys from the server to the call. Each value is moved, not copied,
// into an empty keyspace under its key's name, where the families' handlers find it. After the call
// the value, as it then is, is moved back into the server. Deadlines go the same way.
//
// A key of a type that is not ours is a string in the keyspace, so that handlers reply WRONGTYPE.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <string_view>

#include "core/keyspace/keyspace.h"
#include "server/module/redis_module.h"
#include "server/module/stored_value.h"
#include "server/module/value_types.h"

namespace tally::module {

class Loan {
 public:
  struct Terms {
    redis::Context* context;
    Keyspace& keyspace;  // empty except for lent values
    const ValueTypes& types;
    int64_t now_ms;  // unix ms
    // False for a call that only reads: nothing is given back, and keys whose deadlines have passed
    // are not lent.
    bool for_write;
  };

  explicit Loan(const Terms& terms) : terms_(terms) {}
  ~Loan();
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  // Lends the key's value, if there is one. To take the same key again does nothing.
  void Take(redis::String* name, std::string_view key);
  // Frees some of what is outdated in the lent values at `now_ms`, in unix ms.
  void Sweep(int64_t now_ms);
  // Takes all values out of the keyspace. After a call that writes, the server gets them as they
  // are now.
  void Return();

  // Returns the name of a key that was taken; null for other keys.
  redis::String* NameOf(std::string_view key) const;

 private:
  struct Lent {
    redis::String* name;
    std::string_view key;
    redis::Key* place;  // open; null if a reading call finds no key
    Type type = Type::kString;
    StoredValue value;
    int64_t deadline_ms = kNoDeadline;
    bool is_foreign = false;
    bool is_lent = false;  // the key was put into the keyspace
  };

  void Lend(Lent& lent);
  void GiveBack(Lent& lent);
  void Store(Lent& lent, const Keyspace::Entry& entry);
  void StorePacked(Lent& lent, const Keyspace::Entry& entry);
  void SetValue(Lent& lent, Type type, StoredValue value);
  void Replace(Lent& lent, StoredValue value);
  void Delete(Lent& lent);
  void TakeOut(const Lent& lent);

  Terms terms_;
  absl::InlinedVector<Lent, 2> lent_;
};

}  // namespace tally::module
