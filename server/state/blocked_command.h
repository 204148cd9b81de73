// A command that waits, such as BLPOP or WAIT, and what it waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/type.h"
#include "server/command/command_table.h"

namespace tally::server {

struct AwaitedKey;

struct BlockedCommand {
  const CommandEntry* entry = nullptr;
  std::vector<std::string> args;
  size_t database = 0;
  Type type = Type::kList;          // of the value that it waits for
  int64_t deadline_ms = INT64_MAX;  // of Clock::steady_ms(); INT64_MAX: waits for ever
  int64_t micros = 0;               // what it took before it waited
  uint64_t number = 0;              // a command that began to wait later has a higher one
  std::vector<AwaitedKey*> keys;    // without repetitions; owned by BlockedClients
  size_t replicas = 0;              // WAIT: so many are to acknowledge the stream up to `offset`
  uint64_t offset = 0;
  size_t bytes = 0;  // of memory, about, with what each of the keys takes
};

}  // namespace tally::server
