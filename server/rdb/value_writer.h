// Writes the value of one key as version 10 has it, in the simplest encoding of each type: a table
// of its elements, which every Redis from 7.0 and every Valkey turns into the form that it wants.
#pragma once

#include <cstdint>

#include "core/keyspace/keyspace.h"
#include "server/rdb/rdb_codes.h"
#include "server/rdb/rdb_output.h"

namespace tally::rdb {

ValueCode CodeOf(Type type);
// Without the code. The entry's own types are written as tally.so writes them.
void WriteValue(const Keyspace::Entry& entry, RdbOutput& output);

// The number of a module's type, of which ValueReader::ModuleName and ModuleVersion are parts.
uint64_t ModuleId(std::string_view name, uint64_t version);

}  // namespace tally::rdb
