#include "fake_server.h"

#include <absl/strings/ascii.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/check.h"
#include "core/bytes/varint.h"

namespace tally::redis {

// The first word is what a module finds the functions by.
struct Context {
  GetApi get_api = nullptr;
  std::vector<std::string> words;
};

struct Key {
  std::string name;
};

struct Command {};

}  // namespace tally::redis

extern "C" int RedisModule_OnLoad(tally::redis::Context* context, tally::redis::String** argv,
                                  int argc);

namespace tally::module {
namespace {

FakeServer* g_server = nullptr;

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

// What the module may call; it has access to the server.
struct FakeApi {
  using String = redis::String;
  using Key = redis::Key;
  using Io = redis::Io;

  static FakeServer::KeyValue* Find(const Key* key) {
    const auto found = g_server->keys.find(key->name);
    return found == g_server->keys.end() ? nullptr : &found->second;
  }
  static int Reply(const std::string& part) {
    g_server->reply_ += (g_server->reply_.empty() ? "" : " ") + part;
    return redis::kOk;
  }

  static int CreateCommand(redis::Context*, const char* name, redis::CommandFunction run,
                           const char*, int, int, int) {
    g_server->commands_[name] = run;
    return redis::kOk;
  }
  static redis::Type* CreateDataType(redis::Context*, const char* name, int,
                                     redis::TypeMethods* methods) {
    g_server->types_.push_back(new redis::Type{name, *methods});
    return g_server->types_.back();
  }
  static String* CreateString(redis::Context*, const char* bytes, size_t size) {
    return new String{std::string(bytes, size)};
  }
  static const char* StringPtrLen(const String* string, size_t* size) {
    *size = string->text.size();
    return string->text.data();
  }

  static Key* OpenKey(redis::Context*, String* name, int mode) {
    const bool exists = g_server->keys.contains(name->text);
    ++g_server->opened;
    return exists || (mode & redis::kWriteMode) != 0 ? new Key{name->text} : nullptr;
  }
  static int KeyType(Key* key) { return Find(key) == nullptr ? redis::kEmptyKey : 6; }
  static int DeleteKey(Key* key) {
    g_server->Erase(key->name);
    return redis::kOk;
  }
  static long long GetAbsExpire(Key* key) {
    return Find(key) == nullptr ? redis::kNoExpire : Find(key)->expire;
  }
  static int SetAbsExpire(Key* key, long long unix_ms) {
    Check(Find(key) != nullptr, "a key that expires is there");
    Find(key)->expire = unix_ms;
    return redis::kOk;
  }
  static redis::Type* GetType(Key* key) { return Find(key) == nullptr ? nullptr : Find(key)->type; }
  static void* GetValue(Key* key) { return Find(key)->value; }
  static int SetValue(Key* key, redis::Type* type, void* value) {
    g_server->Erase(key->name);
    g_server->keys[key->name] = {type, value, redis::kNoExpire};
    return redis::kOk;
  }
  static int ReplaceValue(Key* key, redis::Type* type, void* value, void** old) {
    FakeServer::KeyValue* found = Find(key);
    if (found == nullptr || found->type != type) return redis::kError;
    *old = found->value;
    found->value = value;
    return redis::kOk;
  }

  static void SaveUnsigned(Io* io, uint64_t value) { AppendVarint(io->bytes, value); }
  static uint64_t LoadUnsigned(Io* io) {
    std::string_view rest = std::string_view(io->bytes).substr(io->at);
    uint64_t value = 0;
    io->failed |= !ReadVarint(rest, value);
    io->at = io->bytes.size() - rest.size();
    return io->failed ? 0 : value;
  }
  static void SaveString(Io* io, const char* bytes, size_t size) {
    AppendLengthPrefixed(io->bytes, {bytes, size});
  }
  static char* LoadString(Io* io, size_t* size) {
    std::string_view rest = std::string_view(io->bytes).substr(io->at);
    std::string_view text;
    io->failed |= !ReadLengthPrefixed(rest, text);
    if (io->failed) return nullptr;
    io->at = io->bytes.size() - rest.size();
    *size = text.size();
    char* copy = static_cast<char*>(std::malloc(text.size()));
    std::memcpy(copy, text.data(), text.size());
    return copy;
  }

  static int Replicate(redis::Context*, const char* name, const char* format, ...) {
    Check(format[0] == 'v', "words come as a vector");
    va_list list;
    va_start(list, format);
    String** strings = va_arg(list, String**);
    const size_t count = va_arg(list, size_t);
    va_end(list);
    std::vector<std::string> words = {name};
    for (size_t i = 0; i < count; ++i) words.push_back(strings[i]->text);
    g_server->replicated.push_back(Joined(words));
    return redis::kOk;
  }
  static int ReplicateVerbatim(redis::Context* context) {
    g_server->replicated.push_back(Joined(context->words));
    return redis::kOk;
  }
  static int Notify(redis::Context*, int, const char* event, String* key) {
    g_server->events.push_back(std::string(event) + " " + key->text);
    return redis::kOk;
  }
  static void Log(redis::Context*, const char*, const char*, ...) {}
  static void LogIoError(Io*, const char*, const char*, ...) {}
  static int GetApi(const char* name, void* function);
};

namespace {

class FunctionTable {
 public:
  template <typename Function>
  void Add(const char* name, Function* function) {
    functions_[name] = reinterpret_cast<void*>(function);
  }
  // Null if it is not here: the tests do not call it.
  void* Find(std::string_view name) const {
    const auto found = functions_.find(std::string(name));
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, void*> functions_;
};

void AddProcess(FunctionTable& table) {
  using redis::Context;
  using redis::Io;
  using redis::Key;
  using redis::String;
  table.Add("GetServerVersion", +[] { return g_server->version; });
  table.Add("IsModuleNameBusy", +[](const char*) { return 0; });
  table.Add("SetModuleAttribs", +[](Context*, const char*, int, int) {});
  table.Add("SetModuleOptions", +[](Context*, int) {});
  table.Add("Log", FakeApi::Log);
  table.Add("Realloc", std::realloc);
  table.Add("CreateCommand", FakeApi::CreateCommand);
  table.Add(
      "CreateSubcommand", +[](redis::Command*, const char*, redis::CommandFunction, const char*,
                              int, int, int) { return redis::kOk; });
  table.Add(
      "GetCommand", +[](Context*, const char*) {
        static redis::Command command;
        return &command;
      });
  table.Add(
      "SetCommandInfo", +[](redis::Command*, const redis::CommandInfo*) { return redis::kOk; });
  table.Add("IsKeysPositionRequest", +[](Context*) { return 0; });
  table.Add("GetContextFlags", +[](Context*) { return g_server->context_flags; });
  table.Add("Milliseconds", +[] { return g_server->now_ms; });
  table.Add(
      "GetRandomBytes", +[](unsigned char* bytes, size_t size) { std::memset(bytes, 7, size); });
  table.Add("Replicate", FakeApi::Replicate);
  table.Add("ReplicateVerbatim", FakeApi::ReplicateVerbatim);
  table.Add("RegisterInfoFunc", +[](Context*, redis::InfoFunction) { return redis::kOk; });
  table.Add(
      "SubscribeToKeyspaceEvents",
      +[](Context*, int, redis::KeyEventFunction) { return redis::kOk; });
  table.Add(
      "SubscribeToServerEvent",
      +[](Context*, redis::Event, redis::EventFunction) { return redis::kOk; });
  table.Add("GetCurrentUserName", +[](Context*) -> String* { return nullptr; });
}

void AddValues(FunctionTable& table) {
  using redis::Context;
  using redis::Io;
  using redis::Key;
  using redis::String;
  table.Add("LogIOError", FakeApi::LogIoError);
  table.Add("Alloc", std::malloc);
  table.Add("Free", std::free);
  table.Add("CreateDataType", FakeApi::CreateDataType);
  table.Add("SaveUnsigned", FakeApi::SaveUnsigned);
  table.Add("LoadUnsigned", FakeApi::LoadUnsigned);
  table.Add("SaveStringBuffer", FakeApi::SaveString);
  table.Add("LoadStringBuffer", FakeApi::LoadString);
  table.Add("IsIOError", +[](Io* io) { return io->failed ? 1 : 0; });
  table.Add("StringPtrLen", FakeApi::StringPtrLen);
  table.Add("CreateString", FakeApi::CreateString);
  table.Add("FreeString", +[](Context*, String* string) { delete string; });
}

void AddKeys(FunctionTable& table) {
  using redis::Context;
  using redis::Io;
  using redis::Key;
  using redis::String;
  table.Add("OpenKey", FakeApi::OpenKey);
  table.Add("CloseKey", +[](Key* key) { delete key; });
  table.Add("KeyType", FakeApi::KeyType);
  table.Add("DeleteKey", FakeApi::DeleteKey);
  table.Add("GetAbsExpire", FakeApi::GetAbsExpire);
  table.Add("SetAbsExpire", FakeApi::SetAbsExpire);
  table.Add("ModuleTypeGetType", FakeApi::GetType);
  table.Add("ModuleTypeGetValue", FakeApi::GetValue);
  table.Add("ModuleTypeSetValue", FakeApi::SetValue);
  table.Add("ModuleTypeReplaceValue", FakeApi::ReplaceValue);
  table.Add("SignalModifiedKey", +[](Context*, String*) { return redis::kOk; });
  table.Add("NotifyKeyspaceEvent", FakeApi::Notify);
}

void AddReplies(FunctionTable& table) {
  using redis::Context;
  using redis::Io;
  using redis::Key;
  using redis::String;
  table.Add(
      "ReplyWithArray",
      +[](Context*, long size) { return FakeApi::Reply("*" + std::to_string(size)); });
  table.Add("ReplyWithNullArray", +[](Context*) { return FakeApi::Reply("*-1"); });
  table.Add("ReplyWithNull", +[](Context*) { return FakeApi::Reply("$-1"); });
  table.Add(
      "ReplyWithLongLong",
      +[](Context*, long long value) { return FakeApi::Reply(":" + std::to_string(value)); });
  table.Add(
      "ReplyWithStringBuffer", +[](Context*, const char* bytes, size_t size) {
        return FakeApi::Reply("$" + std::string(bytes, size));
      });
  table.Add(
      "ReplyWithSimpleString",
      +[](Context*, const char* text) { return FakeApi::Reply(std::string("+") + text); });
  table.Add(
      "ReplyWithError",
      +[](Context*, const char* text) { return FakeApi::Reply(std::string("-") + text); });
}

}  // namespace

int FakeApi::GetApi(const char* name, void* function) {
  static const FunctionTable kTable = [] {
    FunctionTable table;
    for (const auto add : {AddProcess, AddValues, AddKeys, AddReplies}) add(table);
    return table;
  }();
  constexpr std::string_view kPrefix = "RedisModule_";
  std::string_view rest = name;
  if (!rest.starts_with(kPrefix)) return redis::kError;
  rest.remove_prefix(kPrefix.size());
  void* pointer = kTable.Find(rest);
  std::memcpy(function, &pointer, sizeof pointer);
  return redis::kOk;
}

FakeServer::FakeServer() {
  Check(g_server == nullptr, "one server at a time");
  g_server = this;
}

FakeServer::~FakeServer() {
  while (!keys.empty()) Erase(keys.begin()->first);
  for (const redis::Type* type : types_) delete type;
  g_server = nullptr;
}

void FakeServer::Erase(const std::string& key) {
  const auto found = keys.find(key);
  if (found == keys.end()) return;
  if (found->second.type != nullptr) found->second.type->methods.free(found->second.value);
  keys.erase(found);
}

bool FakeServer::Load(const std::vector<std::string>& words) {
  redis::Context context{FakeApi::GetApi, words};
  std::vector<redis::String> strings;
  for (const std::string& word : words) strings.push_back({word});
  std::vector<redis::String*> argv;
  for (redis::String& string : strings) argv.push_back(&string);
  return RedisModule_OnLoad(&context, argv.data(), static_cast<int>(argv.size())) == redis::kOk;
}

std::string FakeServer::Run(const std::vector<std::string>& words) {
  redis::Context context{FakeApi::GetApi, words};
  std::vector<redis::String> strings;
  for (const std::string& word : words) strings.push_back({word});
  std::vector<redis::String*> argv;
  for (redis::String& string : strings) argv.push_back(&string);
  const auto command = commands_.find(absl::AsciiStrToLower(words.front()));
  Check(command != commands_.end() && command->second != nullptr, "a command of the module");
  reply_.clear();
  command->second(&context, argv.data(), static_cast<int>(argv.size()));
  return reply_;
}

}  // namespace tally::module
