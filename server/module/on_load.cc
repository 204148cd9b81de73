// What the server calls when it loads the module: MODULE LOAD tally.so [option value …].
//
//   zone-dir DIRECTORY          the time zones' files; sets TZDIR of the process
//   debug-clock yes|no          whether there is TALLY.CLOCK; for tests
//   quota-retention DURATION    as tallyd's directive
//
// A load that fails says why in the server's log.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/time/duration.h"
#include "core/words/word.h"
#include "server/module/command_registration.h"
#include "server/module/module.h"
#include "server/module/module_api.h"
#include "server/module/own_commands.h"
#include "server/module/own_deadline.h"
#include "server/module/policy_info.h"

namespace tally::module {
namespace {

// MODULE LIST shows a number: 10203 for the release 1.2.3.
constexpr int VersionNumber(std::string_view release) {
  int number = 0;
  int part = 0;
  for (const char c : release) {
    if (c == '.') {
      number = (number + part) * 100;
      part = 0;
    } else {
      part = part * 10 + (c - '0');
    }
  }
  return number + part;
}
static_assert(VersionNumber("1.2.13") == 10213);

constexpr int kModuleVersion = VersionNumber(TALLYD_VERSION);
constexpr int kOldestServer = 0x00070000;

// Made when the server loads us, and never destroyed: the server cannot unload a module that has
// data types.
Module* g_module = nullptr;

std::string_view ViewOf(const redis::String* string) {
  size_t size = 0;
  const char* bytes = redis::Functions().StringPtrLen(string, &size);
  return {bytes, size};
}

bool ReadOption(std::string_view name, std::string_view value, ModuleOptions& options) {
  if (IsWord(name, "zone-dir")) {
    const std::string directory(value);
    std::error_code error;
    return std::filesystem::is_directory(directory, error) &&
           setenv("TZDIR", directory.c_str(), 1) == 0;
  }
  if (IsWord(name, "debug-clock")) {
    options.debug_clock = IsWord(value, "yes");
    return options.debug_clock || IsWord(value, "no");
  }
  if (!IsWord(name, "quota-retention")) return false;
  const auto retention_ms = ParseDuration(value);
  if (!retention_ms || *retention_ms <= 0) return false;
  options.quota_retention_ms = *retention_ms;
  return true;
}

bool ReadOptions(redis::Context* context, redis::String** argv, int argc, ModuleOptions& options) {
  for (int i = 0; i < argc; i += 2) {
    const std::string name(ViewOf(argv[i]));
    const std::string value(i + 1 < argc ? ViewOf(argv[i + 1]) : "");
    if (i + 1 < argc && ReadOption(name, value, options)) continue;
    redis::Functions().Log(context, "warning",
                           "tally: the option '%s' is not known, or it cannot be '%s'. See "
                           "module.md for the options; zone-dir must be a directory that exists",
                           name.c_str(), value.c_str());
    return false;
  }
  return true;
}

bool IsNewEnough(redis::Context* context) {
  const char* missing = redis::LoadApi(context);
  const redis::Api& api = redis::Functions();
  const bool is_new = api.GetServerVersion != nullptr && api.GetServerVersion() >= kOldestServer;
  if (missing == nullptr && is_new) return true;
  if (api.Log != nullptr) {
    api.Log(context, "warning", "tally needs Redis 7.0 or later, or Valkey%s%s",
            missing != nullptr ? ": this server lacks " : "", missing != nullptr ? missing : "");
  }
  return false;
}

void SetOptions(redis::Context* context) {
  int options =
      redis::kOptionHandleIoErrors | redis::kOptionNoImplicitSignal | redis::kOptionHandleAsyncLoad;
  if (redis::ServerHas(context, "ValkeyModule_SetModuleOptions")) {
    options |= redis::kOptionHandleSlotMigration;
  }
  redis::Functions().SetModuleOptions(context, options);
}

bool Load(redis::Context* context, redis::String** argv, int argc) {
  if (!IsNewEnough(context)) return false;
  const redis::Api& api = redis::Functions();
  if (api.IsModuleNameBusy("tally") != 0) {
    api.Log(context, "warning", "tally: a module of this name is loaded already");
    return false;
  }
  api.SetModuleAttribs(context, "tally", kModuleVersion, redis::kApiVersion);
  ModuleOptions options;
  if (!ReadOptions(context, argv, argc, options)) return false;
  SetOptions(context);
  uint64_t seed = 0;
  unsigned char bytes[sizeof seed];
  api.GetRandomBytes(bytes, sizeof bytes);
  std::memcpy(&seed, bytes, sizeof seed);
  // If an earlier load failed, its module is still there and is replaced.
  delete std::exchange(g_module, new Module(options, seed));
  if (!g_module->types().Register(context) || !g_module->policy_files().Register(context) ||
      !RegisterCommands(context, g_module->commands()) ||
      !RegisterOwnCommands(context, options.debug_clock)) {
    return false;
  }
  // Subscribing comes last: a server may go on calling the listeners of a module that it has
  // unloaded because its load failed.
  const bool good = RegisterPolicyInfo(context) && KeepOwnDeadlines(context) &&
                    g_module->policy_files().Subscribe(context);
  if (!good) api.Log(context, "warning", "tally: the server refuses to report its events");
  return good;
}

}  // namespace

Module& TheModule() { return *g_module; }

}  // namespace tally::module

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(tally::redis::Context* context,
                                                                 tally::redis::String** argv,
                                                                 int argc) {
  return tally::module::Load(context, argv, argc) ? tally::redis::kOk : tally::redis::kError;
}
