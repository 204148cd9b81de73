// What the records of a key and of a policy are, and how they are read: see aof_format.md,
// "Records". They are written by RecordEmitter.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "core/limit/policy_table.h"

namespace tally {

// The record of a key whose value is not on the heap.
void EncodeSmallEntry(size_t database, const Keyspace::Entry& entry, std::string& record);

// What comes before a heap value's first run.
struct ValueHead {
  size_t database = 0;
  std::string key;
  Type type = Type::kString;
  int64_t deadline = kNoDeadline;
};

// Begins the record of a heap value's first run, or of a further one; the run is to be appended.
void BeginFirstRun(const ValueHead& head, std::string& record);
void BeginFirstRun(size_t database, const Keyspace::Entry& entry, std::string& record);
void BeginFurtherRun(const ValueHead& head, std::string& record);
void BeginFurtherRun(size_t database, std::string_view key, std::string& record);
// Begins a record of several further runs, which are to be appended with their lengths.
void BeginManyRuns(const ValueHead& head, std::string& record);

// About how many keys of the database follow, for whoever loads them to be prepared.
void EncodeKeyCount(size_t database, uint64_t keys, std::string& record);

// The one record of a policy.
void EncodePolicy(std::string_view name, const PolicyTable::Words& words, std::string& record);

// Brings into the cache what DecodeRecord will touch for each of a few records: their number times
// a cache miss is most of the time that it takes.
void PrefetchForRecords(std::span<const std::string_view> records, const Engine& engine);

// Adds what a record holds to the engine. DataLoss for a record that RecordEmitter does not write.
absl::Status DecodeRecord(std::string_view record, Engine& engine);

}  // namespace tally
