// The values of a call's keys, lent by the server for the call: each is moved, not copied, into an
// empty keyspace under its key's name, where the families' handlers find it, and afterwards back
// into the server with what has become of it. Deadlines go the same way.
//
// A key of a type that is not ours is a string here: whoever finds it replies WRONGTYPE.
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
    Keyspace& keyspace;  // empty but for what is lent
    const ValueTypes& types;
    int64_t now;  // unix ms
    // Of a call that only reads: nothing is given back, and keys whose deadlines have passed are
    // not lent.
    bool for_write;
  };

  explicit Loan(const Terms& terms) : terms_(terms) {}
  ~Loan();
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  // Lends the key's value, if there is one. A key may be lent several times.
  void Take(redis::String* name, std::string_view key);
  // Frees some of what is out of date in values that age by themselves.
  void Sweep();
  // Gives all of them back, as they are now.
  void Return();

  // The name of a key that was lent; null if it was not.
  redis::String* NameOf(std::string_view key) const;

 private:
  struct Lent {
    redis::String* name;
    std::string_view key;
    redis::Key* place;  // open; null if a reading call finds no key
    Type type = Type::kString;
    StoredValue value;
    int64_t deadline = kNoDeadline;
    bool is_foreign = false;
    bool is_lent = false;  // it is in the keyspace
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
