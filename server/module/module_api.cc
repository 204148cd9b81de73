#include "server/module/module_api.h"

namespace tally::redis {
namespace {

// Set once, before anything else is called.
Api g_api;

using GetApi = int (*)(const char* name, void* function);

// The first word of every context is a pointer to this function of the server.
GetApi GetApiOf(Context* context) { return *reinterpret_cast<GetApi*>(context); }

struct Row {
  const char* name;
  void* function;
  bool optional = false;
};

const Row kRows[] = {
    {"RedisModule_SetModuleAttribs", &g_api.SetModuleAttribs},
    {"RedisModule_IsModuleNameBusy", &g_api.IsModuleNameBusy},
    {"RedisModule_GetServerVersion", &g_api.GetServerVersion},
    {"RedisModule_SetModuleOptions", &g_api.SetModuleOptions},
    {"RedisModule_Log", &g_api.Log},
    {"RedisModule_LogIOError", &g_api.LogIOError},
    {"RedisModule_Alloc", &g_api.Alloc},
    {"RedisModule_Realloc", &g_api.Realloc},
    {"RedisModule_Free", &g_api.Free},
    {"RedisModule_CreateCommand", &g_api.CreateCommand},
    {"RedisModule_CreateSubcommand", &g_api.CreateSubcommand},
    {"RedisModule_GetCommand", &g_api.GetCommand},
    {"RedisModule_SetCommandInfo", &g_api.SetCommandInfo},
    {"RedisModule_IsKeysPositionRequest", &g_api.IsKeysPositionRequest},
    {"RedisModule_KeyAtPosWithFlags", &g_api.KeyAtPosWithFlags},
    {"RedisModule_RegisterInfoFunc", &g_api.RegisterInfoFunc},
    {"RedisModule_InfoAddSection", &g_api.InfoAddSection},
    {"RedisModule_InfoAddFieldCString", &g_api.InfoAddFieldCString},
    {"RedisModule_InfoAddFieldULongLong", &g_api.InfoAddFieldULongLong},
    {"RedisModule_CreateDataType", &g_api.CreateDataType},
    {"RedisModule_SaveUnsigned", &g_api.SaveUnsigned},
    {"RedisModule_LoadUnsigned", &g_api.LoadUnsigned},
    {"RedisModule_SaveStringBuffer", &g_api.SaveStringBuffer},
    {"RedisModule_LoadStringBuffer", &g_api.LoadStringBuffer},
    {"RedisModule_IsIOError", &g_api.IsIOError},
    {"RedisModule_EmitAOF", &g_api.EmitAOF},
    {"RedisModule_DigestAddStringBuffer", &g_api.DigestAddStringBuffer},
    {"RedisModule_DigestEndSequence", &g_api.DigestEndSequence},
    {"RedisModule_DefragAlloc", &g_api.DefragAlloc},
    {"RedisModule_StringPtrLen", &g_api.StringPtrLen},
    {"RedisModule_CreateString", &g_api.CreateString},
    {"RedisModule_FreeString", &g_api.FreeString},
    {"RedisModule_OpenKey", &g_api.OpenKey},
    {"RedisModule_CloseKey", &g_api.CloseKey},
    {"RedisModule_KeyType", &g_api.KeyType},
    {"RedisModule_DeleteKey", &g_api.DeleteKey},
    {"RedisModule_GetAbsExpire", &g_api.GetAbsExpire},
    {"RedisModule_SetAbsExpire", &g_api.SetAbsExpire},
    {"RedisModule_ModuleTypeGetType", &g_api.ModuleTypeGetType},
    {"RedisModule_ModuleTypeGetValue", &g_api.ModuleTypeGetValue},
    {"RedisModule_ModuleTypeSetValue", &g_api.ModuleTypeSetValue},
    {"RedisModule_ModuleTypeReplaceValue", &g_api.ModuleTypeReplaceValue},
    {"RedisModule_GetContextFlags", &g_api.GetContextFlags},
    {"RedisModule_Milliseconds", &g_api.Milliseconds},
    {"RedisModule_GetRandomBytes", &g_api.GetRandomBytes},
    {"RedisModule_SignalModifiedKey", &g_api.SignalModifiedKey},
    {"RedisModule_NotifyKeyspaceEvent", &g_api.NotifyKeyspaceEvent},
    {"RedisModule_Replicate", &g_api.Replicate},
    {"RedisModule_ReplicateVerbatim", &g_api.ReplicateVerbatim},
    {"RedisModule_SubscribeToServerEvent", &g_api.SubscribeToServerEvent},
    {"RedisModule_SubscribeToKeyspaceEvents", &g_api.SubscribeToKeyspaceEvents},
    {"RedisModule_GetThreadSafeContext", &g_api.GetThreadSafeContext},
    {"RedisModule_FreeThreadSafeContext", &g_api.FreeThreadSafeContext},
    {"RedisModule_GetCurrentUserName", &g_api.GetCurrentUserName},
    {"RedisModule_GetModuleUserFromUserName", &g_api.GetModuleUserFromUserName},
    {"RedisModule_FreeModuleUser", &g_api.FreeModuleUser},
    {"RedisModule_ACLCheckKeyPermissions", &g_api.ACLCheckKeyPermissions},
    {"RedisModule_ACLAddLogEntry", &g_api.ACLAddLogEntry},
    {"RedisModule_ReplyWithArray", &g_api.ReplyWithArray},
    {"RedisModule_ReplyWithNullArray", &g_api.ReplyWithNullArray},
    {"RedisModule_ReplyWithNull", &g_api.ReplyWithNull},
    {"RedisModule_ReplyWithLongLong", &g_api.ReplyWithLongLong},
    {"RedisModule_ReplyWithStringBuffer", &g_api.ReplyWithStringBuffer},
    {"RedisModule_ReplyWithSimpleString", &g_api.ReplyWithSimpleString},
    {"RedisModule_ReplyWithError", &g_api.ReplyWithError},
    {"RedisModule_CachedMicroseconds", &g_api.CachedMicroseconds, true},
    {"RedisModule_AddACLCategory", &g_api.AddACLCategory, true},
    {"RedisModule_SetCommandACLCategories", &g_api.SetCommandACLCategories, true},
};

}  // namespace

const Api& Functions() { return g_api; }

const char* LoadApi(Context* context) {
  const GetApi get = GetApiOf(context);
  for (const Row& row : kRows) {
    if (get(row.name, row.function) != kOk && !row.optional) return row.name;
  }
  return nullptr;
}

bool ServerHas(Context* context, const char* name) {
  void* function = nullptr;
  return GetApiOf(context)(name, &function) == kOk;
}

}  // namespace tally::redis
