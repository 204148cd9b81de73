// The part of the module interface of Redis and Valkey that we use, written from its documentation
// (https://redis.io/docs/latest/develop/reference/modules/modules-api-ref/). Names, numbers and
// layouts are those of the servers. No file of a server is needed to compile this, because all
// functions are called through pointers that the server gives by name (see module_api.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::redis {

// The server gives us pointers to these and takes them back; what is inside is not our concern.
struct Context;
struct String;
struct Key;
struct Type;
struct Command;
struct User;
struct Io;
struct Digest;
struct DefragContext;
struct InfoContext;

inline constexpr int kOk = 0;
inline constexpr int kError = 1;
inline constexpr int kApiVersion = 1;

// OpenKey.
inline constexpr int kRead = 1 << 0;
inline constexpr int kWriteMode = 1 << 1;

// KeyType.
inline constexpr int kEmptyKey = 0;

// GetAbsExpire, SetAbsExpire: unix ms, or this.
inline constexpr long long kNoExpire = -1;

// GetContextFlags.
inline constexpr int kContextCluster = 1 << 5;
inline constexpr int kContextReplicated = 1 << 12;
inline constexpr int kContextLoading = 1 << 13;
inline constexpr int kContextAsyncLoading = 1 << 23;

// SetModuleOptions.
inline constexpr int kOptionHandleIoErrors = 1 << 0;
inline constexpr int kOptionNoImplicitSignal = 1 << 1;
inline constexpr int kOptionHandleAsyncLoad = 1 << 2;
// Of Valkey 9.
inline constexpr int kOptionHandleSlotMigration = 1 << 5;

// NotifyKeyspaceEvent.
inline constexpr int kNotifyGeneric = 1 << 2;
inline constexpr int kNotifyExpired = 1 << 8;
inline constexpr int kNotifyModule = 1 << 13;

// When aux_save and aux_load are called.
inline constexpr int kAuxBeforeKeys = 1 << 0;

struct Event {
  uint64_t id;
  uint64_t data_version;
};
inline constexpr Event kPersistenceEvent{1, 1};
inline constexpr Event kLoadingEvent{3, 1};
inline constexpr Event kAsyncLoadEvent{14, 1};
inline constexpr uint64_t kAofRewriteStart = 1;
inline constexpr uint64_t kLoadingRdbStart = 0;
inline constexpr uint64_t kLoadingAofStart = 1;
inline constexpr uint64_t kLoadingReplicaStart = 2;
inline constexpr uint64_t kAsyncLoadStarted = 0;
inline constexpr uint64_t kAsyncLoadCompleted = 2;

using CommandFunction = int (*)(Context* context, String** argv, int argc);
using KeyEventFunction = int (*)(Context* context, int type, const char* event, String* key);
using EventFunction = void (*)(Context* context, Event event, uint64_t subevent, void* data);
using InfoFunction = void (*)(InfoContext* info, int for_crash_report);

// CreateDataType, as of Redis 7.0 (version 4).
inline constexpr uint64_t kTypeMethodsVersion = 4;
struct TypeMethods {
  uint64_t version;
  void* (*rdb_load)(Io* io, int encoding_version);
  void (*rdb_save)(Io* io, void* value);
  void (*aof_rewrite)(Io* io, String* key, void* value);
  size_t (*mem_usage)(const void* value);
  void (*digest)(Digest* digest, void* value);
  void (*free)(void* value);
  int (*aux_load)(Io* io, int encoding_version, int when);
  void (*aux_save)(Io* io, int when);
  int aux_save_triggers;
  size_t (*free_effort)(String* key, const void* value);
  void (*unlink)(String* key, const void* value);
  void* (*copy)(String* from, String* to, const void* value);
  int (*defrag)(DefragContext* context, String* key, void** value);
  size_t (*mem_usage2)(void* options, const void* value, size_t samples);
  size_t (*free_effort2)(void* options, const void* value);
  void (*unlink2)(void* options, const void* value);
  void* (*copy2)(void* options, const void* value);
};

// ACLAddLogEntry.
inline constexpr int kDeniedKey = 2;

// SetCommandInfo.
enum class ArgType : int {
  kString,
  kInteger,
  kDouble,
  kKey,
  kPattern,
  kUnixTime,
  kPureToken,
  kOneOf,
  kBlock
};
inline constexpr int kArgOptional = 1 << 0;
inline constexpr int kArgMultiple = 1 << 1;
inline constexpr int kArgMultipleToken = 1 << 2;

struct CommandArg {
  const char* name;
  ArgType type;
  int key_spec_index;
  const char* token;
  const char* summary;
  const char* since;
  int flags;
  const char* deprecated_since;
  CommandArg* subargs;  // the last one is all zeros
};

// Flags of a key specification. Bits 0 to 7 say what is done with the key, as in KeyFlags.
inline constexpr uint64_t kKeyUseMask = 0xff;
// The bits of a use for which the user needs rights.
inline constexpr int kKeyRightsMask = 0xf0;
inline constexpr uint64_t kKeysIncomplete = 1 << 9;

inline constexpr int kBeginAtIndex = 2;
inline constexpr int kFindRange = 2;

struct KeySpec {
  const char* notes;
  uint64_t flags;
  int begin_search_type;
  union {
    struct {
      int pos;
    } index;
    struct {
      const char* keyword;
      int start_from;
    } keyword;
  } begin;
  int find_keys_type;
  union {
    struct {
      int last_key;
      int key_step;
      int limit;
    } range;
    struct {
      int key_num_index;
      int first_key;
      int key_step;
    } key_num;
  } find;
};

struct HistoryEntry {
  const char* since;
  const char* changes;
};

// From these sizes a newer server knows which fields our structs have.
struct CommandInfoVersion {
  int version;
  size_t sizeof_history_entry;
  size_t sizeof_key_spec;
  size_t sizeof_arg;
};
inline constexpr CommandInfoVersion kCommandInfoVersion{1, sizeof(HistoryEntry), sizeof(KeySpec),
                                                        sizeof(CommandArg)};

struct CommandInfo {
  const CommandInfoVersion* version;
  const char* summary;
  const char* complexity;
  const char* since;
  HistoryEntry* history;
  const char* tips;
  int arity;
  KeySpec* key_specs;  // the last one is all zeros
  CommandArg* args;    // likewise
};

}  // namespace tally::redis
