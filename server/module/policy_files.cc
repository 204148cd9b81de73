#include "server/module/policy_files.h"

#include <string>
#include <utility>
#include <vector>

#include "server/module/module.h"
#include "server/module/module_api.h"
#include "server/module/value_codec.h"

namespace tally::module {
namespace {

void OnLoading(redis::Context*, redis::Event, uint64_t subevent, void*) {
  if (subevent == redis::kLoadingRdbStart || subevent == redis::kLoadingAofStart ||
      subevent == redis::kLoadingReplicaStart) {
    TheModule().policy_files().BeginLoad();
  }
}

void OnAsyncLoad(redis::Context*, redis::Event, uint64_t subevent, void*) {
  PolicyFiles& files = TheModule().policy_files();
  if (subevent == redis::kAsyncLoadStarted) {
    files.BeginAsyncLoad();
  } else {
    files.EndAsyncLoad(subevent == redis::kAsyncLoadCompleted);
  }
}

// This subevent comes in the child.
void OnPersistence(redis::Context* context, redis::Event, uint64_t subevent, void*) {
  if (subevent == redis::kAofRewriteStart) TheModule().policy_files().AddCarrier(context);
}

// Writes a POLICY.SET to the base of an AOF.
void EmitPolicy(redis::Io* io, std::string_view name, const StoredWords& words) {
  const redis::Api& api = redis::Functions();
  std::vector<redis::String*> strings = {api.CreateString(nullptr, name.data(), name.size())};
  for (const std::string& word : words) {
    strings.push_back(api.CreateString(nullptr, word.data(), word.size()));
  }
  api.EmitAOF(io, "POLICY.SET", "v", strings.data(), strings.size());
  for (redis::String* string : strings) api.FreeString(nullptr, string);
}

// A key that is open for writing.
class OpenKey {
 public:
  OpenKey(redis::Context* context, std::string_view name)
      : name_(redis::Functions().CreateString(nullptr, name.data(), name.size())),
        key_(redis::Functions().OpenKey(context, name_, redis::kRead | redis::kWriteMode)) {}
  ~OpenKey() {
    redis::Functions().CloseKey(key_);
    redis::Functions().FreeString(nullptr, name_);
  }
  OpenKey(const OpenKey&) = delete;
  OpenKey& operator=(const OpenKey&) = delete;

  redis::Key* get() const { return key_; }
  bool exists() const { return redis::Functions().KeyType(key_) != redis::kEmptyKey; }

 private:
  redis::String* name_;
  redis::Key* key_;
};

}  // namespace

// The server never saves or loads a key of this type.
bool PolicyFiles::Register(redis::Context* context) {
  redis::TypeMethods methods{};
  methods.version = redis::kTypeMethodsVersion;
  methods.aof_rewrite = [](redis::Io* io, redis::String*, void*) {
    TheModule().policy_files().Rewrite(io);
  };
  methods.free = [](void*) {};
  carrier_type_ =
      redis::Functions().CreateDataType(context, "tallypoli", kEncodingVersion, &methods);
  return carrier_type_ != nullptr;
}

bool PolicyFiles::Subscribe(redis::Context* context) {
  const auto subscribe = redis::Functions().SubscribeToServerEvent;
  return subscribe(context, redis::kLoadingEvent, OnLoading) == redis::kOk &&
         subscribe(context, redis::kAsyncLoadEvent, OnAsyncLoad) == redis::kOk &&
         subscribe(context, redis::kPersistenceEvent, OnPersistence) == redis::kOk;
}

void PolicyFiles::Save(redis::Io* io) {
  RemoveCarrier();
  const redis::Api& api = redis::Functions();
  api.SaveUnsigned(io, engine_.policies().size());
  std::string bytes;
  engine_.policies().ForEach([&](std::string_view name, const StoredWords& words) {
    bytes.clear();
    PolicyTable::Save(name, words, bytes);
    api.SaveStringBuffer(io, bytes.data(), bytes.size());
  });
}

bool PolicyFiles::Load(redis::Io* io) {
  const redis::Api& api = redis::Functions();
  uint64_t left = api.LoadUnsigned(io);
  for (; left > 0 && api.IsIOError(io) == 0; --left) {
    size_t size = 0;
    char* bytes = api.LoadStringBuffer(io, &size);
    if (bytes == nullptr) return false;
    const bool good = target().Load({bytes, size});
    api.Free(bytes);
    if (!good) return false;
  }
  return api.IsIOError(io) == 0;
}

void PolicyFiles::BeginLoad() { target().Clear(); }

void PolicyFiles::BeginAsyncLoad() {
  is_async_ = true;
  loading_.Clear();
}

void PolicyFiles::EndAsyncLoad(bool completed) {
  is_async_ = false;
  if (completed) engine_.policies() = std::move(loading_);
  loading_ = PolicyTable();
}

void PolicyFiles::AddCarrier(redis::Context* context) {
  if (engine_.policies().size() == 0) return;
  for (carrier_ = "tally:policies"; OpenKey(context, carrier_).exists();) carrier_ += '\'';
  const OpenKey key(context, carrier_);
  redis::Functions().ModuleTypeSetValue(key.get(), carrier_type_, this);
}

void PolicyFiles::RemoveCarrier() {
  if (carrier_.empty()) return;
  const redis::Api& api = redis::Functions();
  // A context of loading and saving can open no keys.
  redis::Context* context = api.GetThreadSafeContext(nullptr);
  api.DeleteKey(OpenKey(context, carrier_).get());
  api.FreeThreadSafeContext(context);
  carrier_.clear();
}

void PolicyFiles::Rewrite(redis::Io* io) const {
  engine_.policies().ForEach(
      [io](std::string_view name, const StoredWords& words) { EmitPolicy(io, name, words); });
}

void AddPolicyMethods(redis::TypeMethods& methods) {
  methods.aux_save_triggers = redis::kAuxBeforeKeys;
  methods.aux_save = [](redis::Io* io, int) { TheModule().policy_files().Save(io); };
  methods.aux_load = [](redis::Io* io, int version, int) {
    const bool good = version == kEncodingVersion && TheModule().policy_files().Load(io);
    return good ? redis::kOk : redis::kError;
  };
}

}  // namespace tally::module
