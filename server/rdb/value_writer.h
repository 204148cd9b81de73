// Writes the value of one key as version 10 has it, in the simplest encoding of each type: a table
// of its elements, which every Redis from 7.0 and every Valkey turns into the form that it wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/keyspace/keyspace.h"
#include "server/rdb/rdb_codes.h"
#include "server/rdb/rdb_output.h"

namespace tally::rdb {

ValueCode CodeOf(Type type);
// Without the code. The entry's own types are written as tally.so writes them.
void WriteValue(const Keyspace::Entry& entry, RdbOutput& output);

// A heap value in parts: its beginning, its elements some by some, its end. `size` is that of all
// of it, in bytes for a string, else in elements. WriteElements writes all that `value`, which
// is none of our own types and no string, holds.
void BeginValue(Type type, size_t size, RdbOutput& output);
void WriteElements(Type type, const void* value, RdbOutput& output);
// A run of one of our own types, as ValueOperations::save makes it.
void WriteNativeRun(std::string_view run, bool is_last, RdbOutput& output);
void EndNativeValue(RdbOutput& output);

// The number of a module's type, of which ValueReader::ModuleName and ModuleVersion are parts.
uint64_t ModuleId(std::string_view name, uint64_t version);

}  // namespace tally::rdb
