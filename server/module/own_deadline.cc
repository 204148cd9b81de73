#include "server/module/own_deadline.h"

#include <optional>
#include <string_view>

#include "core/base/check.h"
#include "core/hits/hits.h"
#include "core/limit/limit_state.h"
#include "server/module/module.h"
#include "server/module/module_api.h"
#include "server/module/stored_value.h"

namespace tally::module {
namespace {

template <typename T>
int64_t EndOf(StoredValue value) {
  if (!value.is_packed()) return static_cast<const T*>(value.heap())->ExpiresAt();
  T unpacked;
  Check(unpacked.LoadPacked(value.packed()), "a packed value is well formed");
  return unpacked.ExpiresAt();
}

// Returns nullopt for the types whose keys have no deadline of their own.
std::optional<int64_t> EndOf(Type type, StoredValue value) {
  if (type == Type::kHits) return EndOf<Hits>(value);
  if (type == Type::kLimit) return EndOf<LimitState>(value);
  return std::nullopt;
}

// Replicas get the same command and the same event, so nothing is replicated.
int OnKeyEvent(redis::Context* context, int, const char* event, redis::String* name) {
  const std::string_view what = event;
  if (what != "persist" && what != "restore") return redis::kOk;
  const redis::Api& api = redis::Functions();
  redis::Key* key = api.OpenKey(context, name, redis::kRead | redis::kWriteMode);
  const auto type = TheModule().types().Find(api.ModuleTypeGetType(key));
  if (type && api.GetAbsExpire(key) == redis::kNoExpire) {
    const auto end_ms = EndOf(*type, StoredValue(api.ModuleTypeGetValue(key)));
    if (end_ms) api.SetAbsExpire(key, *end_ms);
  }
  api.CloseKey(key);
  return redis::kOk;
}

}  // namespace

bool KeepOwnDeadlines(redis::Context* context) {
  return redis::Functions().SubscribeToKeyspaceEvents(context, redis::kNotifyGeneric, OnKeyEvent) ==
         redis::kOk;
}

}  // namespace tally::module
