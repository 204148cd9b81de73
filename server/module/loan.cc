#include "server/module/loan.h"

#include "core/base/check.h"
#include "core/keyspace/value.h"
#include "core/quota/quota_types.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

// How much of a quota book each call that writes to it sweeps: a segment counts as one, and a
// segment with something to free also counts each of its users or SKUs.
constexpr size_t kSweepBudget = 16;

}  // namespace

Loan::~Loan() {
  for (const Lent& lent : lent_) {
    if (lent.place != nullptr) redis::Functions().CloseKey(lent.place);
  }
}

redis::String* Loan::NameOf(std::string_view key) const {
  for (const Lent& lent : lent_) {
    if (lent.key == key) return lent.name;
  }
  return nullptr;
}

void Loan::Take(redis::String* name, std::string_view key) {
  if (NameOf(key) != nullptr) return;
  const redis::Api& api = redis::Functions();
  const int mode = terms_.for_write ? redis::kRead | redis::kWriteMode : redis::kRead;
  Lent& lent = lent_.emplace_back();
  lent.name = name;
  lent.key = key;
  lent.place = api.OpenKey(terms_.context, name, mode);
  if (lent.place == nullptr) return;
  const redis::Type* type = api.ModuleTypeGetType(lent.place);
  if (type == nullptr && api.KeyType(lent.place) == redis::kEmptyKey) return;
  if (const auto ours = terms_.types.Find(type)) {
    lent.type = *ours;
    lent.value = StoredValue(api.ModuleTypeGetValue(lent.place));
  } else {
    lent.is_foreign = true;
  }
  if (const long long expire = api.GetAbsExpire(lent.place); expire != redis::kNoExpire) {
    lent.deadline_ms = expire;
  }
  Lend(lent);
}

void Loan::Lend(Lent& lent) {
  int64_t deadline_ms = lent.deadline_ms;
  if (!terms_.for_write) {
    if (deadline_ms <= terms_.now_ms) return;
    deadline_ms = kNoDeadline;
  }
  Keyspace& keyspace = terms_.keyspace;
  lent.is_lent = true;
  if (lent.is_foreign) {
    keyspace.SetInteger(lent.key, 0, deadline_ms, terms_.now_ms);
  } else if (lent.value.is_packed()) {
    keyspace.SetPacked(lent.key, lent.type, lent.value.packed(), deadline_ms, terms_.now_ms);
  } else {
    keyspace.SetPointer(lent.key, lent.type, lent.value.heap(), deadline_ms, terms_.now_ms);
  }
}

void Loan::Sweep(int64_t now_ms) {
  for (const Lent& lent : lent_) {
    const auto sweep = OperationsOf(lent.type).sweep;
    if (!lent.is_lent || lent.is_foreign || lent.value.is_packed() || sweep == nullptr) continue;
    const Keyspace::Entry entry = terms_.keyspace.Peek(lent.key);
    QuotaExpired expired;  // a replica sweeps by itself
    if (entry && entry.type() == lent.type) sweep(entry.pointer(), now_ms, kSweepBudget, expired);
  }
}

void Loan::Return() {
  for (Lent& lent : lent_) {
    if (terms_.for_write) {
      GiveBack(lent);
    } else if (lent.is_lent) {
      TakeOut(lent);
    }
  }
}

// Removes the value from the keyspace and does not free it, because the server owns it.
void Loan::TakeOut(const Lent& lent) {
  if (const Keyspace::Entry entry = terms_.keyspace.Peek(lent.key)) {
    terms_.keyspace.Release(entry);
  }
}

void Loan::GiveBack(Lent& lent) {
  const Keyspace::Entry entry = terms_.keyspace.Peek(lent.key);
  if (!entry) {
    if (lent.is_lent) Delete(lent);
    return;
  }
  if (entry.type() != Type::kString) Store(lent, entry);
  terms_.keyspace.Release(entry);
}

void Loan::Store(Lent& lent, const Keyspace::Entry& entry) {
  const int64_t deadline_ms = entry.deadline_ms();
  if (!entry.is_heap()) {
    StorePacked(lent, entry);
  } else if (lent.value.raw() != entry.pointer()) {
    SetValue(lent, entry.type(), StoredValue::OfHeap(entry.pointer()));
  }
  if (deadline_ms == lent.deadline_ms) return;
  redis::Functions().SetAbsExpire(lent.place,
                                  deadline_ms == kNoDeadline ? redis::kNoExpire : deadline_ms);
}

void Loan::StorePacked(Lent& lent, const Keyspace::Entry& entry) {
  const std::string_view bytes = entry.bytes();
  const bool is_same_form = lent.value.is_packed() && lent.type == entry.type();
  if (is_same_form && (lent.value.packed() == bytes || lent.value.Repack(bytes))) return;
  SetValue(lent, entry.type(), StoredValue::Pack(bytes));
}

void Loan::SetValue(Lent& lent, Type type, StoredValue value) {
  const redis::Api& api = redis::Functions();
  if (lent.value && lent.type == type) {
    Replace(lent, value);
    return;
  }
  // The key ended in the call and was then made again with another type.
  if (lent.value && !lent.value.is_packed()) Replace(lent, StoredValue());
  // The server frees the old value and removes the key's deadline.
  const int status = api.ModuleTypeSetValue(lent.place, terms_.types.Of(type), value.raw());
  Check(status == redis::kOk, "a key gets a value");
  lent.value = value;
  lent.type = type;
  lent.deadline_ms = kNoDeadline;
}

// Only a packed value is freed here: a heap value was freed when it left the keyspace.
void Loan::Replace(Lent& lent, StoredValue value) {
  void* old = nullptr;
  const int status = redis::Functions().ModuleTypeReplaceValue(
      lent.place, terms_.types.Of(lent.type), value.raw(), &old);
  Check(status == redis::kOk, "a key's value is replaced");
  if (lent.value.is_packed()) lent.value.Free(lent.type);
  lent.value = value;
}

void Loan::Delete(Lent& lent) {
  // A heap value was freed when it left the keyspace; the server must not free it again.
  if (lent.value && !lent.value.is_packed()) Replace(lent, StoredValue());
  redis::Functions().DeleteKey(lent.place);
}

}  // namespace tally::module
