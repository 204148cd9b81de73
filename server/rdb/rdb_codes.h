// The numbers in RDB files. Redis and Valkey have gone different ways: from 22 on the same number
// of a type, and below 244 the same opcode, mean different things.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally::rdb {

// Who wrote a file: its magic says it. A payload of DUMP has a version only.
enum class Dialect : uint8_t { kRedis, kValkey };

// Valkey's versions begin here; Redis is far below.
inline constexpr uint64_t kFirstValkeyVersion = 80;
constexpr Dialect DialectOfVersion(uint64_t version) {
  return version < kFirstValkeyVersion ? Dialect::kRedis : Dialect::kValkey;
}

enum Opcode : uint8_t {
  kOpValkeyCommands = 242,  // Valkey 9.2: commands inside the file
  kOpRedisTemplate = 242,   // Redis 8.10
  kOpRedisKeyMeta = 243,    // Redis 8.6
  kOpValkeySlotImport = 243,
  kOpSlotInfo = 244,
  kOpFunction2 = 245,
  kOpFunction = 246,  // of release candidates
  kOpModuleAux = 247,
  kOpIdle = 248,
  kOpFrequency = 249,
  kOpAux = 250,
  kOpResizeDb = 251,
  kOpExpireMs = 252,
  kOpExpireSeconds = 253,
  kOpSelectDb = 254,
  kOpEnd = 255,
};
inline constexpr uint8_t kFirstOpcode = 242;

enum ValueCode : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kZSetText = 3,  // scores are texts
  kHash = 4,
  kZSet2 = 5,
  kModule = 6,  // of release candidates
  kModule2 = 7,
  kNoType = 8,
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kZSetZiplist = 12,
  kHashZiplist = 13,
  kListQuicklist = 14,
  kStream = 15,
  kHashListpack = 16,
  kZSetListpack = 17,
  kListQuicklist2 = 18,
  kStream2 = 19,
  kSetListpack = 20,
  kStream3 = 21,
  kRedisHashDeadlinesRc = 22,  // of release candidates
  kValkeyHash2 = 22,
  kRedisHashListpackDeadlinesRc = 23,  // of release candidates
  kValkeyPathHash = 23,                // 9.2
  kRedisHashDeadlines = 24,
  kRedisHashListpackDeadlines = 25,
  // The rest is Redis's.
  kStream4 = 26,
  kStream5 = 27,
  kArray = 28,
  kHashTemplateListpack = 29,     // its fields, and a listpack of its values
  kHashTemplateListpackRef = 30,  // a listpack: the number of a template, then its values
  kHashTemplateTable = 31,
  kHashTemplateTableRef = 32,
  kRedisGcra = 33,
};

// How the parts of a module's value are marked.
enum ModuleCode : uint8_t {
  kModuleEnd = 0,
  kModuleSigned = 1,
  kModuleUnsigned = 2,
  kModuleFloat = 3,
  kModuleDouble = 4,
  kModuleString = 5,
};

// The letters in the names of modules' types, in the order of their six bits.
inline constexpr std::string_view kModuleLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The containers of a node of kListQuicklist2.
enum NodeCode : uint8_t { kNodePlain = 1, kNodePacked = 2 };

}  // namespace tally::rdb
