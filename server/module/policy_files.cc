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

void OnForkChild(redis::Context* context, redis::Event, uint64_t subevent, void*) {
  if (subevent == redis::kForkChildBorn) TheModule().policy_files().AfterFork(context);
}

void OnCronLoop(redis::Context* context, redis::Event, uint64_t, void*) {
  TheModule().policy_files().LogIfDue(context);
}

bool IsRewritingAof(redis::Context* context) {
  const redis::Api& api = redis::Functions();
  redis::ServerInfo* info = api.GetServerInfo(context, "persistence");
  if (info == nullptr) return true;
  int error = 0;
  const auto is_rewriting = api.ServerInfoGetFieldUnsigned(info, "aof_rewrite_in_progress", &error);
  api.FreeServerInfo(context, info);
  return error != 0 || is_rewriting != 0;
}

// Writes a POLICY.SET to the AOF only, because replicas have the policy already.
void LogPolicy(redis::Context* context, std::string_view name, const PolicyTable::Words& words) {
  const redis::Api& api = redis::Functions();
  std::vector<redis::String*> strings = {api.CreateString(nullptr, name.data(), name.size())};
  for (const std::string& word : words) {
    strings.push_back(api.CreateString(nullptr, word.data(), word.size()));
  }
  api.Replicate(context, "POLICY.SET", "vR", strings.data(), strings.size());
  for (redis::String* string : strings) api.FreeString(nullptr, string);
}

}  // namespace

bool PolicyFiles::Subscribe(redis::Context* context) {
  const auto subscribe = redis::Functions().SubscribeToServerEvent;
  return subscribe(context, redis::kLoadingEvent, OnLoading) == redis::kOk &&
         subscribe(context, redis::kAsyncLoadEvent, OnAsyncLoad) == redis::kOk &&
         subscribe(context, redis::kForkChildEvent, OnForkChild) == redis::kOk &&
         subscribe(context, redis::kCronLoopEvent, OnCronLoop) == redis::kOk;
}

void PolicyFiles::Save(redis::Io* io) const {
  const redis::Api& api = redis::Functions();
  api.SaveUnsigned(io, engine_.policies().size());
  std::string bytes;
  engine_.policies().ForEach([&](std::string_view name, const PolicyTable::Words& words) {
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

void PolicyFiles::AfterFork(redis::Context* context) {
  if (engine_.policies().size() == 0 || !IsRewritingAof(context)) return;
  is_log_due_ = true;
  LogIfDue(context);
}

void PolicyFiles::LogIfDue(redis::Context* context) {
  if (!is_log_due_ || redis::Functions().AvoidReplicaTraffic() != 0) return;
  is_log_due_ = false;
  engine_.policies().ForEach([&](std::string_view name, const PolicyTable::Words& words) {
    LogPolicy(context, name, words);
  });
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
