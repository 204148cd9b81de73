#include "server/rdb/value_writer.h"

#include <string>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/number.h"
#include "core/bytes/run_sink.h"
#include "core/bytes/text.h"
#include "core/hash/hash.h"
#include "core/keyspace/value.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/zset/zset.h"
#include "server/rdb/native_types.h"

namespace tally::rdb {
namespace {

void WriteString(const Keyspace::Entry& entry, RdbOutput& output) {
  if (entry.is_integer()) return output.String(Int64Text(entry.integer()).view());
  output.String(entry.is_heap() ? entry.heap<Text>().view() : entry.bytes());
}

void WriteList(const List& list, RdbOutput& output) {
  output.Length(list.size());
  list.ForEach(0, list.size(), [&](std::string_view element) {
    output.String(element);
    return true;
  });
}

void WriteSet(const Set& set, RdbOutput& output) {
  output.Length(set.size());
  set.ForEach([&](std::string_view member) {
    output.String(member);
    return true;
  });
}

void WriteZSet(const ZSet& zset, RdbOutput& output) {
  output.Length(zset.size());
  zset.ForEach({0, zset.size()}, false, [&](std::string_view member, double score) {
    output.String(member);
    output.BinaryDouble(score);
    return true;
  });
}

void WriteHash(const Hash& hash, RdbOutput& output) {
  output.Length(hash.size());
  hash.ForEach([&](std::string_view field, std::string_view value) {
    output.String(field);
    output.String(value);
  });
}

void WriteHash(const Keyspace::Entry& entry, RdbOutput& output) {
  if (entry.is_heap()) return WriteHash(entry.heap<Hash>(), output);
  Hash hash(0);
  Check(hash.LoadPacked(entry.bytes()), "a packed hash is well formed");
  WriteHash(hash, output);
}

void WritePart(std::string_view part, RdbOutput& output) {
  output.Length(kModuleString);
  output.String(part);
}

// tally.so refuses a packed value that does not fill a block of the allocator.
void WritePacked(std::string_view packed, RdbOutput& output) {
  Check(packed.size() < kNativeRun, "a packed value is short");
  std::string block(1, static_cast<char>(static_cast<uint8_t>(packed.size())));
  block += packed;
  block.resize(HeapBytes(block.size()));
  WritePart(block, output);
}

void WriteNative(const Keyspace::Entry& entry, RdbOutput& output) {
  output.Length(ModuleId(NativeName(entry.type()), kNativeVersion));
  if (!entry.is_heap()) {
    WritePacked(entry.bytes(), output);
  } else {
    std::string run;
    uint64_t cursor = 0;
    do {
      run.assign(1, static_cast<char>(kNativeRun));
      cursor = OperationsOf(entry.type()).save(entry.pointer(), cursor, kRunBytes, run);
      if (cursor == 0) run.front() = static_cast<char>(kNativeLastRun);
      WritePart(run, output);
    } while (cursor != 0);
  }
  output.Length(kModuleEnd);
}

}  // namespace

ValueCode CodeOf(Type type) {
  switch (type) {
    case Type::kString:
      return kString;
    case Type::kList:
      return kList;
    case Type::kSet:
      return kSet;
    case Type::kZSet:
      return kZSet2;
    case Type::kHash:
      return kHash;
    default:
      return kModule2;
  }
}

void WriteValue(const Keyspace::Entry& entry, RdbOutput& output) {
  switch (entry.type()) {
    case Type::kString:
      return WriteString(entry, output);
    case Type::kList:
      return WriteList(entry.heap<List>(), output);
    case Type::kSet:
      return WriteSet(entry.heap<Set>(), output);
    case Type::kZSet:
      return WriteZSet(entry.heap<ZSet>(), output);
    case Type::kHash:
      return WriteHash(entry, output);
    default:
      return WriteNative(entry, output);
  }
}

uint64_t ModuleId(std::string_view name, uint64_t version) {
  uint64_t id = 0;
  for (const char letter : name) id = id << 6 | kModuleLetters.find(letter);
  return id << 10 | version;
}

}  // namespace tally::rdb
