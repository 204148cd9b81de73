#include "server/module/own_commands.h"

#include <optional>
#include <string_view>

#include "core/bytes/number.h"
#include "core/time/duration.h"
#include "core/words/word.h"
#include "server/module/module.h"
#include "server/module/module_api.h"
#include "server/module/stored_value.h"
#include "server/module/value_codec.h"

namespace tally::module {
namespace {

std::string_view ViewOf(const redis::String* string) {
  size_t size = 0;
  const char* bytes = redis::Functions().StringPtrLen(string, &size);
  return {bytes, size};
}

std::optional<Type> TypeNamed(std::string_view name) {
  for (const Type type : kModuleTypes) {
    if (TypeName(type) == name) return type;
  }
  return std::nullopt;
}

// Makes a value from the first bytes. Returns a null value if they are malformed.
StoredValue FirstValue(Type type, bool packed, std::string_view bytes) {
  if (packed) return IsPackedValue(type, bytes) ? StoredValue::Pack(bytes) : StoredValue();
  Engine& engine = TheModule().engine();
  const StoredValue value = StoredValue::OfHeap(NewHeapValue(type, engine.seed(), engine.zones()));
  if (LoadRun(type, value.heap(), bytes)) return value;
  value.Free(type);
  return {};
}

// Returns false if the arguments are malformed (see value_codec.h), or do not fit the key's value.
bool LoadIntoKey(redis::Key* key, Type type, std::string_view part, std::string_view bytes) {
  const redis::Api& api = redis::Functions();
  redis::Type* server_type = TheModule().types().Of(type);
  if (part == kLoadMore) {
    if (api.ModuleTypeGetType(key) != server_type) return false;
    const StoredValue value(api.ModuleTypeGetValue(key));
    return !value.is_packed() && LoadRun(type, value.heap(), bytes);
  }
  if (part != kLoadPacked && part != kLoadFirst) return false;
  const StoredValue value = FirstValue(type, part == kLoadPacked, bytes);
  if (!value) return false;
  if (api.ModuleTypeSetValue(key, server_type, value.raw()) == redis::kOk) return true;
  value.Free(type);
  return false;
}

int Load(redis::Context* context, redis::String** argv, int argc) {
  const redis::Api& api = redis::Functions();
  if (!Module::IsReplayed(context)) {
    return api.ReplyWithError(context, "ERR TALLY.LOAD is for the server's files only");
  }
  const auto type = argc == 5 ? TypeNamed(ViewOf(argv[2])) : std::nullopt;
  if (!type) return api.ReplyWithError(context, "ERR malformed TALLY.LOAD");
  redis::Key* key = api.OpenKey(context, argv[1], redis::kRead | redis::kWriteMode);
  const bool good = LoadIntoKey(key, *type, ViewOf(argv[3]), ViewOf(argv[4]));
  api.CloseKey(key);
  if (!good) return api.ReplyWithError(context, "ERR malformed TALLY.LOAD");
  api.SignalModifiedKey(context, argv[1]);
  api.ReplicateVerbatim(context);
  return api.ReplyWithSimpleString(context, "OK");
}

bool SetClock(ModuleClock& clock, std::string_view word, std::optional<std::string_view> time) {
  if (IsWord(word, "real") && !time) {
    clock.MakeReal();
    return true;
  }
  if (!time) return false;
  if (IsWord(word, "set")) {
    const auto at_ms = ParseInt64(*time);
    if (!at_ms || *at_ms < 0 || *at_ms > kMaxInstantMs) return false;
    clock.Set(*at_ms);
    return true;
  }
  const auto by_ms = IsWord(word, "advance") ? ParseDuration(*time) : std::nullopt;
  return by_ms && clock.Advance(*by_ms);
}

int Clock(redis::Context* context, redis::String** argv, int argc) {
  const redis::Api& api = redis::Functions();
  const auto time = argc == 3 ? std::optional(ViewOf(argv[2])) : std::nullopt;
  if (argc < 2 || argc > 3 || !SetClock(TheModule().clock(), ViewOf(argv[1]), time)) {
    return api.ReplyWithError(context,
                              "ERR syntax error. Usage: TALLY.CLOCK SET <unix ms> | ADVANCE "
                              "<duration> | REAL");
  }
  return api.ReplyWithSimpleString(context, "OK");
}

}  // namespace

bool RegisterOwnCommands(redis::Context* context, bool debug_clock) {
  const auto create = redis::Functions().CreateCommand;
  if (create(context, "tally.load", Load, "write deny-oom", 1, 1, 1) != redis::kOk) return false;
  return !debug_clock || create(context, "tally.clock", Clock, "fast allow-loading allow-stale", 0,
                                0, 0) == redis::kOk;
}

}  // namespace tally::module
