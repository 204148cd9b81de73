// A key, or a policy, as records of the base snapshot: see aof_format.md, "Records".
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "core/engine/engine.h"
#include "core/limit/policy_table.h"

namespace tally {

using EmitRecord = absl::FunctionRef<absl::Status(std::string_view record)>;

// What a run has at least, if there is so much: each record of a run repeats the key, and those of
// a key of many megabytes must not make a snapshot many times as large as the data.
size_t RunBytesFor(std::string_view key, size_t run_bytes);

// Emits the key's records, the value cut into runs of about RunBytesFor(key, run_bytes). `scratch`
// is reused memory.
absl::Status EncodeEntry(size_t database, const Keyspace::Entry& entry, size_t run_bytes,
                         std::string& scratch, EmitRecord emit);

// What stands before a heap value's first run.
struct ValueHead {
  size_t database = 0;
  std::string key;
  Type type = Type::kString;
  int64_t deadline = kNoDeadline;
};

// Begins the record of a heap value's first run, or of a further one; the run is to be appended.
void BeginFirstRun(const ValueHead& head, std::string& record);
void BeginFurtherRun(const ValueHead& head, std::string& record);
// Begins a record of several further runs, which are to be appended with their lengths.
void BeginManyRuns(const ValueHead& head, std::string& record);

// About how many keys of the database follow, for whoever loads them to be prepared.
void EncodeKeyCount(size_t database, uint64_t keys, std::string& record);

// The one record of a policy.
void EncodePolicy(std::string_view name, const PolicyTable::Words& words, std::string& record);

// Brings into the cache what DecodeRecord will touch for each of a few records: their number times
// a cache miss is most of the time that it takes.
void PrefetchForRecords(std::span<const std::string_view> records, const Engine& engine);

// Adds what a record holds to the engine. DataLoss for a record that EncodeEntry does not write.
absl::Status DecodeRecord(std::string_view record, Engine& engine);

}  // namespace tally
