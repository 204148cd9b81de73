// The functions of the server that we call. The server gives them by name when it loads the module.
// They are global, because the server passes only a context, and no pointer of ours, to callbacks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/module/redis_module.h"

namespace tally::redis {

// Each member is the server's function RedisModule_<name>.
struct Api {
  void (*SetModuleAttribs)(Context* context, const char* name, int version, int api_version);
  int (*IsModuleNameBusy)(const char* name);
  int (*GetServerVersion)();
  void (*SetModuleOptions)(Context* context, int options);
  void (*Log)(Context* context, const char* level, const char* format, ...);
  void (*LogIOError)(Io* io, const char* level, const char* format, ...);

  void* (*Alloc)(size_t bytes);
  void* (*Realloc)(void* memory, size_t bytes);
  void (*Free)(void* memory);

  int (*CreateCommand)(Context* context, const char* name, CommandFunction run, const char* flags,
                       int first_key, int last_key, int key_step);
  int (*CreateSubcommand)(Command* parent, const char* name, CommandFunction run, const char* flags,
                          int first_key, int last_key, int key_step);
  Command* (*GetCommand)(Context* context, const char* name);
  int (*SetCommandInfo)(Command* command, const CommandInfo* info);
  int (*IsKeysPositionRequest)(Context* context);
  void (*KeyAtPosWithFlags)(Context* context, int position, int flags);
  int (*RegisterInfoFunc)(Context* context, InfoFunction function);
  int (*InfoAddSection)(InfoContext* info, const char* name);
  int (*InfoAddFieldCString)(InfoContext* info, const char* name, const char* value);
  int (*InfoAddFieldULongLong)(InfoContext* info, const char* name, unsigned long long value);

  Type* (*CreateDataType)(Context* context, const char* name, int encoding_version,
                          TypeMethods* methods);
  void (*SaveUnsigned)(Io* io, uint64_t value);
  uint64_t (*LoadUnsigned)(Io* io);
  void (*SaveStringBuffer)(Io* io, const char* bytes, size_t size);
  char* (*LoadStringBuffer)(Io* io, size_t* size);
  int (*IsIOError)(Io* io);
  void (*EmitAOF)(Io* io, const char* command, const char* format, ...);
  void (*DigestAddStringBuffer)(Digest* digest, const char* bytes, size_t size);
  void (*DigestEndSequence)(Digest* digest);
  void* (*DefragAlloc)(DefragContext* context, void* memory);

  const char* (*StringPtrLen)(const String* string, size_t* size);
  String* (*CreateString)(Context* context, const char* bytes, size_t size);
  void (*FreeString)(Context* context, String* string);

  Key* (*OpenKey)(Context* context, String* name, int mode);
  void (*CloseKey)(Key* key);
  int (*KeyType)(Key* key);
  int (*DeleteKey)(Key* key);
  long long (*GetAbsExpire)(Key* key);
  int (*SetAbsExpire)(Key* key, long long unix_ms);
  Type* (*ModuleTypeGetType)(Key* key);
  void* (*ModuleTypeGetValue)(Key* key);
  int (*ModuleTypeSetValue)(Key* key, Type* type, void* value);
  int (*ModuleTypeReplaceValue)(Key* key, Type* type, void* value, void** old_value);

  int (*GetContextFlags)(Context* context);
  long long (*Milliseconds)();
  void (*GetRandomBytes)(unsigned char* bytes, size_t size);
  int (*SignalModifiedKey)(Context* context, String* key);
  int (*NotifyKeyspaceEvent)(Context* context, int type, const char* event, String* key);
  int (*Replicate)(Context* context, const char* command, const char* format, ...);
  int (*ReplicateVerbatim)(Context* context);
  int (*SubscribeToServerEvent)(Context* context, Event event, EventFunction function);
  int (*SubscribeToKeyspaceEvents)(Context* context, int types, KeyEventFunction function);
  Context* (*GetThreadSafeContext)(void* blocked_client);
  void (*FreeThreadSafeContext)(Context* context);

  String* (*GetCurrentUserName)(Context* context);
  User* (*GetModuleUserFromUserName)(String* name);
  void (*FreeModuleUser)(User* user);
  int (*ACLCheckKeyPermissions)(User* user, String* key, int flags);
  int (*ACLAddLogEntry)(Context* context, User* user, String* object, int reason);

  int (*ReplyWithArray)(Context* context, long size);
  int (*ReplyWithNullArray)(Context* context);
  int (*ReplyWithNull)(Context* context);
  int (*ReplyWithLongLong)(Context* context, long long value);
  int (*ReplyWithStringBuffer)(Context* context, const char* bytes, size_t size);
  int (*ReplyWithSimpleString)(Context* context, const char* text);
  int (*ReplyWithError)(Context* context, const char* text);

  // Each of these is null if the server is too old to have it.
  long long (*CachedMicroseconds)();
  int (*AddACLCategory)(Context* context, const char* name);
  int (*SetCommandACLCategories)(Command* command, const char* names);
};

// Requires that LoadApi has succeeded.
const Api& Functions();

// Asks the server that is loading the module for all functions. Returns null, or the name of one
// that the module needs and the server lacks.
const char* LoadApi(Context* context);
// Whether the server has a function of this name.
bool ServerHas(Context* context, const char* name);

}  // namespace tally::redis
