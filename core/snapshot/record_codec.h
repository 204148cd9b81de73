// Encodes and decodes the records of keys and policies. aof_format.md, "Records", describes the
// format. RecordEmitter writes the records.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "core/limit/policy_table.h"
#include "core/snapshot/value_head.h"

namespace tally {

// Sets `record` to the record of a key whose value is not on the heap.
void EncodeSmallEntry(size_t database, const Keyspace::Entry& entry, std::string& record);

// Replace `record` by the beginning of the record of a heap value's first run, or of a further run.
// The caller then appends the run.
void BeginFirstRun(const ValueHead& head, std::string& record);
void BeginFirstRun(size_t database, const Keyspace::Entry& entry, std::string& record);
void BeginFurtherRun(const ValueHead& head, std::string& record);
void BeginFurtherRun(size_t database, std::string_view key, std::string& record);
// Begins a record of several further runs. The caller then appends each run after its length.
void BeginManyRuns(const ValueHead& head, std::string& record);

// Says about how many keys of the database follow, so that the loader can reserve space for them.
void EncodeKeyCount(size_t database, uint64_t keys, std::string& record);

// Sets `record` to the record of a policy; a policy has only this one.
void EncodePolicy(std::string_view name, const StoredWords& words, std::string& record);

// Prefetches what DecodeRecord will touch for each of a few records: without this, one cache miss
// per record is most of the time that decoding takes.
void PrefetchForRecords(std::span<const std::string_view> records, const Engine& engine);

// Adds the content of a record to the engine. Returns DataLoss for a record that RecordEmitter does
// not write, and FailedPrecondition if the engine lacks the record's database.
absl::Status DecodeRecord(std::string_view record, Engine& engine);

}  // namespace tally
