#include "server/rdb/rdb_writer.h"

#include <string>

#include "core/bytes/number.h"
#include "core/limit/policy_table.h"
#include "server/rdb/native_types.h"
#include "server/rdb/rdb_codes.h"
#include "server/rdb/value_writer.h"

namespace tally::rdb {
namespace {

void WriteAux(std::string_view name, std::string_view value, RdbOutput& output) {
  output.Byte(kOpAux);
  output.String(name);
  output.String(value);
}

// A server without tally.so refuses a file with them, so a table without policies is not there.
void WritePolicies(const PolicyTable& policies, RdbOutput& output) {
  constexpr uint64_t kBeforeKeys = 1;
  if (policies.size() == 0) return;
  output.Byte(kOpModuleAux);
  output.Length(ModuleId(NativeName(Type::kLimit), kNativeVersion));
  for (const uint64_t number : {kBeforeKeys, uint64_t{policies.size()}}) {
    output.Length(kModuleUnsigned);
    output.Length(number);
  }
  std::string bytes;
  policies.ForEach([&](std::string_view name, const StoredWords& words) {
    bytes.clear();
    PolicyTable::Save(name, words, bytes);
    output.Length(kModuleString);
    output.String(bytes);
  });
  output.Length(kModuleEnd);
}

void WriteKey(const Keyspace::Entry& entry, RdbOutput& output) {
  if (entry.deadline() != kNoDeadline) {
    output.Byte(kOpExpireMs);
    output.Fixed(static_cast<uint64_t>(entry.deadline()), 8);
  }
  output.Byte(CodeOf(entry.type()));
  output.String(entry.key());
  WriteValue(entry, output);
}

void WriteDatabase(size_t number, const Keyspace& keyspace, RdbOutput& output) {
  if (keyspace.size() == 0) return;
  output.Byte(kOpSelectDb);
  output.Length(number);
  output.Byte(kOpResizeDb);
  output.Length(keyspace.size());
  output.Length(keyspace.expires());
  uint64_t position = 0;
  while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
    keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) { WriteKey(entry, output); });
    if (!output.ok()) return;
  }
}

}  // namespace

absl::Status WriteRdb(const Engine& engine, std::string_view version, int64_t now,
                      ByteTarget& target) {
  RdbOutput output(&target);
  output.Raw("REDIS0010");
  WriteAux("redis-ver", version, output);
  WriteAux("redis-bits", "64", output);
  WriteAux("ctime", Int64Text(now / 1000).view(), output);
  WritePolicies(engine.policies(), output);
  for (size_t i = 0; i < engine.databases(); ++i) WriteDatabase(i, engine.database(i), output);
  output.Byte(kOpEnd);
  output.Fixed(output.Checksum(), 8);
  output.Flush();
  return output.status();
}

}  // namespace tally::rdb
