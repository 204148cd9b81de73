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
  list.ForEach(0, list.size(), [&](std::string_view element) {
    output.String(element);
    return true;
  });
}

void WriteSet(const Set& set, RdbOutput& output) {
  set.ForEach([&](std::string_view member) {
    output.String(member);
    return true;
  });
}

void WriteZSet(const ZSet& zset, RdbOutput& output) {
  zset.ForEach({0, zset.size()}, false, [&](std::string_view member, double score) {
    output.String(member);
    output.BinaryDouble(score);
    return true;
  });
}

void WriteHash(const Hash& hash, RdbOutput& output) {
  hash.ForEach([&](std::string_view field, std::string_view value) {
    output.String(field);
    output.String(value);
  });
}

void WritePackedHash(std::string_view bytes, RdbOutput& output) {
  Hash hash(0);
  Check(hash.LoadPacked(bytes), "a packed hash is well formed");
  output.Length(hash.size());
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
  BeginValue(entry.type(), 0, output);
  if (!entry.is_heap()) {
    WritePacked(entry.bytes(), output);
  } else {
    std::string run;
    uint64_t cursor = 0;
    do {
      run.clear();
      cursor = OperationsOf(entry.type()).save(entry.pointer(), cursor, kRunBytes, run);
      WriteNativeRun(run, cursor == 0, output);
    } while (cursor != 0);
  }
  EndNativeValue(output);
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
  const Type type = entry.type();
  if (NativeName(type) != nullptr) return WriteNative(entry, output);
  if (type == Type::kString) return WriteString(entry, output);
  if (!entry.is_heap()) return WritePackedHash(entry.bytes(), output);
  BeginValue(type, OperationsOf(type).weight(entry.pointer()), output);
  WriteElements(type, entry.pointer(), output);
}

void BeginValue(Type type, size_t size, RdbOutput& output) {
  const char* const native = NativeName(type);
  output.Length(native == nullptr ? size : ModuleId(native, kNativeVersion));
}

void WriteElements(Type type, const void* value, RdbOutput& output) {
  switch (type) {
    case Type::kList:
      return WriteList(*static_cast<const List*>(value), output);
    case Type::kSet:
      return WriteSet(*static_cast<const Set*>(value), output);
    case Type::kZSet:
      return WriteZSet(*static_cast<const ZSet*>(value), output);
    case Type::kHash:
      return WriteHash(*static_cast<const Hash*>(value), output);
    default:
      Check(false, "a value with elements");
  }
}

void WriteNativeRun(std::string_view run, bool is_last, RdbOutput& output) {
  std::string part(1, static_cast<char>(is_last ? kNativeLastRun : kNativeRun));
  part += run;
  WritePart(part, output);
}

void EndNativeValue(RdbOutput& output) { output.Length(kModuleEnd); }

uint64_t ModuleId(std::string_view name, uint64_t version) {
  uint64_t id = 0;
  for (const char letter : name) id = id << 6 | kModuleLetters.find(letter);
  return id << 10 | version;
}

}  // namespace tally::rdb
