#include "core/snapshot/record_codec.h"

#include <array>

#include "core/bytes/varint.h"

namespace tally {
namespace {

// The first byte of a record. The numbers are part of the format.
enum RecordKind : char {
  kInteger = 'i',   // a string that is an integer
  kBytes = 'b',     // a string, or another packed value
  kRun = 'r',       // the first run of a heap value
  kMore = 'm',      // a further run of the same key
  kManyRuns = 'w',  // several further runs of the same key
  kPolicy = 'p',    // a policy: no key, its name and its words
  kKeys = 'n',      // how many keys a database has
};

void BeginRecord(std::string& record, RecordKind kind, size_t database, std::string_view key) {
  record.clear();
  record.push_back(kind);
  AppendVarint(record, database);
  AppendLengthPrefixed(record, key);
}

void BeginKey(std::string& record, RecordKind kind, size_t database, std::string_view key,
              Type type, int64_t deadline_ms) {
  BeginRecord(record, kind, database, key);
  record.push_back(static_cast<char>(type));
  AppendSignedVarint(record, deadline_ms);
}

void BeginKey(std::string& record, RecordKind kind, size_t database, const Keyspace::Entry& entry) {
  BeginKey(record, kind, database, entry.key(), entry.type(), entry.deadline_ms());
}

absl::Status MalformedRecord(const char* why) {
  return absl::DataLossError(std::string("malformed record: ") + why);
}

absl::Status MoreDatabases() {
  return absl::FailedPreconditionError("the files hold more databases than are configured");
}

struct RecordHead {
  char kind = 0;
  uint64_t database = 0;
  std::string_view key;
};

bool ReadHead(std::string_view& in, RecordHead& head) {
  if (in.empty()) return false;
  head.kind = in.front();
  in.remove_prefix(1);
  return ReadVarint(in, head.database) && ReadLengthPrefixed(in, head.key);
}

bool HasKey(std::string_view record) {
  return !record.empty() && record.front() != kPolicy && record.front() != kKeys;
}

// `record` is the record without its first byte, which is `kind`.
absl::Status DecodeWithoutKey(char kind, std::string_view record, Engine& engine) {
  if (kind == kPolicy) {
    return engine.policies().Load(record) ? absl::OkStatus() : MalformedRecord("a policy");
  }
  uint64_t database = 0;
  uint64_t keys = 0;
  if (!ReadVarint(record, database) || !ReadVarint(record, keys) || !record.empty()) {
    return MalformedRecord("a number of keys");
  }
  if (database >= engine.databases()) return MoreDatabases();
  engine.database(database).Reserve(keys);
  return absl::OkStatus();
}

absl::Status DecodeMore(Keyspace& keyspace, std::string_view key, std::string_view run) {
  // Whatever its deadline: a key that has ended is removed later.
  const Keyspace::Entry entry = keyspace.Peek(key);
  if (!entry || !entry.is_heap()) return MalformedRecord("a run without its key");
  return OperationsOf(entry.type()).load(entry.pointer(), run) ? absl::OkStatus()
                                                               : MalformedRecord("a run");
}

absl::Status DecodeManyRuns(Keyspace& keyspace, std::string_view key, std::string_view runs) {
  while (!runs.empty()) {
    std::string_view run;
    if (!ReadLengthPrefixed(runs, run)) return MalformedRecord("runs");
    if (absl::Status status = DecodeMore(keyspace, key, run); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status DecodeRun(Engine& engine, const RecordHead& head, Type type, int64_t deadline_ms,
                       std::string_view run) {
  const ValueOperations& operations = OperationsOf(type);
  Keyspace& keyspace = engine.database(head.database);
  void* value = operations.create(keyspace.seed(), engine.zones());
  keyspace.SetPointer(head.key, type, value, deadline_ms, 0);
  return operations.load(value, run) ? absl::OkStatus() : MalformedRecord("a value");
}

}  // namespace

void EncodeSmallEntry(size_t database, const Keyspace::Entry& entry, std::string& record) {
  if (entry.is_integer()) {
    BeginKey(record, kInteger, database, entry);
    AppendSignedVarint(record, entry.integer());
    return;
  }
  BeginKey(record, kBytes, database, entry);
  record.append(entry.bytes());
}

void BeginFirstRun(size_t database, const Keyspace::Entry& entry, std::string& record) {
  BeginKey(record, kRun, database, entry);
}

void BeginFirstRun(const ValueHead& head, std::string& record) {
  BeginKey(record, kRun, head.database, head.key, head.type, head.deadline_ms);
}

void BeginFurtherRun(size_t database, std::string_view key, std::string& record) {
  BeginRecord(record, kMore, database, key);
}

void BeginFurtherRun(const ValueHead& head, std::string& record) {
  BeginFurtherRun(head.database, head.key, record);
}

void BeginManyRuns(const ValueHead& head, std::string& record) {
  BeginRecord(record, kManyRuns, head.database, head.key);
}

void EncodePolicy(std::string_view name, const StoredWords& words, std::string& record) {
  record.assign(1, kPolicy);
  PolicyTable::Save(name, words, record);
}

void EncodeKeyCount(size_t database, uint64_t keys, std::string& record) {
  record.assign(1, kKeys);
  AppendVarint(record, database);
  AppendVarint(record, keys);
}

void PrefetchForRecords(std::span<const std::string_view> records, const Engine& engine) {
  std::array<std::string_view, RecordTable::kMaxPrefetch> keys;
  size_t count = 0;
  uint64_t database = 0;
  const auto prefetch = [&] {
    if (count > 0) engine.database(database).PrefetchInsertions({keys.data(), count});
    count = 0;
  };
  for (std::string_view record : records) {
    RecordHead head;
    if (!HasKey(record) || !ReadHead(record, head)) continue;
    if (head.database >= engine.databases()) continue;
    if (head.database != database || count == keys.size()) prefetch();
    database = head.database;
    keys[count++] = head.key;
  }
  prefetch();
}

absl::Status DecodeRecord(std::string_view record, Engine& engine) {
  if (!record.empty() && !HasKey(record)) {
    return DecodeWithoutKey(record.front(), record.substr(1), engine);
  }
  RecordHead head;
  if (!ReadHead(record, head)) return MalformedRecord("its head");
  if (head.database >= engine.databases()) return MoreDatabases();
  Keyspace& keyspace = engine.database(head.database);
  if (head.kind == kMore) return DecodeMore(keyspace, head.key, record);
  if (head.kind == kManyRuns) return DecodeManyRuns(keyspace, head.key, record);
  if (record.empty() || static_cast<unsigned char>(record.front()) >= kTypeCount) {
    return MalformedRecord("its type");
  }
  const Type type = static_cast<Type>(record.front());
  record.remove_prefix(1);
  int64_t deadline_ms = 0;
  if (!ReadSignedVarint(record, deadline_ms)) return MalformedRecord("its deadline");
  switch (head.kind) {
    case kInteger: {
      int64_t value = 0;
      if (!ReadSignedVarint(record, value)) return MalformedRecord("its number");
      keyspace.SetInteger(head.key, value, deadline_ms, 0);
      return absl::OkStatus();
    }
    case kBytes:
      if (const auto is_packed = OperationsOf(type).is_packed; !is_packed || !is_packed(record)) {
        return MalformedRecord("a packed value");
      }
      keyspace.SetPacked(head.key, type, record, deadline_ms, 0);
      return absl::OkStatus();
    case kRun:
      return DecodeRun(engine, head, type, deadline_ms, record);
    default:
      return MalformedRecord("its kind");
  }
}

}  // namespace tally
