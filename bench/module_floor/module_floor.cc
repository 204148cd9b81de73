// A module that counts nothing: it does only what every module must do that keeps a value with a
// deadline for each key, replicates by effect and reports changes. So it shows what redis-server
// itself takes for the calls of tally.so, in time and memory, and what is left to tally.so.
//
//   FLOOR.HIT  key ms …   as HITS.ADD: the deadline moves, one integer
//   FLOOR.TAKE key ms …   as LIMIT.TAKE: the deadline is set once, six integers
//   FLOOR.LEFT key …      as QUOTA.LEFT: reads only
#include <cstdint>
#include <initializer_list>

#include "server/module/module_api.h"
#include "server/module/redis_module.h"

namespace tally::bench {
namespace {

redis::Type* g_type = nullptr;

// A value is only its pointer, which takes no memory.
void* Value() { return &g_type; }

// Replicates a change with its instant, and reports it to watchers and listeners.
void Report(redis::Context* context, redis::String* key, const char* effect, long long now) {
  const redis::Api& api = redis::Functions();
  api.Replicate(context, effect, "sl", key, now);
  api.SignalModifiedKey(context, key);
  api.NotifyKeyspaceEvent(context, redis::kNotifyModule, effect, key);
}

// Gives the key a value if it has none. Sets the deadline of a new key, or of any key if `always`.
void Touch(redis::Context* context, redis::String* name, long long deadline, bool always) {
  const redis::Api& api = redis::Functions();
  redis::Key* key = api.OpenKey(context, name, redis::kRead | redis::kWriteMode);
  const bool is_new = api.ModuleTypeGetType(key) != g_type;
  if (is_new) api.ModuleTypeSetValue(key, g_type, Value());
  if (is_new || always) api.SetAbsExpire(key, deadline);
  api.CloseKey(key);
}

long long ToNumber(const redis::String* text) {
  size_t size = 0;
  const char* bytes = redis::Functions().StringPtrLen(text, &size);
  long long number = 0;
  for (size_t i = 0; i < size; ++i) number = number * 10 + (bytes[i] - '0');
  return number;
}

int Hit(redis::Context* context, redis::String** argv, int argc) {
  if (argc < 3) return redis::kError;
  const redis::Api& api = redis::Functions();
  const long long now = api.Milliseconds();
  Touch(context, argv[1], now + ToNumber(argv[2]), true);
  api.ReplyWithLongLong(context, 1);
  Report(context, argv[1], "floor.hit", now);
  return redis::kOk;
}

int Take(redis::Context* context, redis::String** argv, int argc) {
  if (argc < 3) return redis::kError;
  const redis::Api& api = redis::Functions();
  const long long now = api.Milliseconds();
  Touch(context, argv[1], now + ToNumber(argv[2]), false);
  api.ReplyWithArray(context, 6);
  for (const long long field : {1, 100, 99, 0, 60'000, 0}) api.ReplyWithLongLong(context, field);
  Report(context, argv[1], "floor.take", now);
  return redis::kOk;
}

int Left(redis::Context* context, redis::String** argv, int argc) {
  if (argc < 2) return redis::kError;
  const redis::Api& api = redis::Functions();
  redis::Key* key = api.OpenKey(context, argv[1], redis::kRead);
  if (key != nullptr) api.CloseKey(key);
  for (const long size : {1, 1, 2}) api.ReplyWithArray(context, size);
  for (const long long field : {0, 4}) api.ReplyWithLongLong(context, field);
  return redis::kOk;
}

bool Load(redis::Context* context) {
  if (redis::LoadApi(context) != nullptr) return false;
  const redis::Api& api = redis::Functions();
  api.SetModuleAttribs(context, "floor", 1, redis::kApiVersion);
  redis::TypeMethods methods{};
  methods.version = redis::kTypeMethodsVersion;
  methods.rdb_load = [](redis::Io* io, int) {
    redis::Functions().LoadUnsigned(io);
    return Value();
  };
  methods.rdb_save = [](redis::Io* io, void*) { redis::Functions().SaveUnsigned(io, 1); };
  methods.free = [](void*) {};
  g_type = api.CreateDataType(context, "tallyzero", 1, &methods);
  return g_type != nullptr &&
         api.CreateCommand(context, "floor.hit", Hit, "write fast", 1, 1, 1) == redis::kOk &&
         api.CreateCommand(context, "floor.take", Take, "write fast", 1, 1, 1) == redis::kOk &&
         api.CreateCommand(context, "floor.left", Left, "readonly fast", 1, 1, 1) == redis::kOk;
}

}  // namespace
}  // namespace tally::bench

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(tally::redis::Context* context,
                                                                 tally::redis::String**, int) {
  return tally::bench::Load(context) ? tally::redis::kOk : tally::redis::kError;
}
