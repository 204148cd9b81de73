// A client as a line of CLIENT LIST.
#pragma once

#include <cstdint>
#include <string>

#include "server/state/client.h"

namespace tally::server {

// Bytes that the client holds: the Client itself, its output, the requests that have not run, and
// its transaction.
size_t ClientMemory(const Client& client);

// Bytes of the output after its first block, counted by the memory that they hold. CLIENT LIST
// shows them as `omem`; 0 if there is at most one block.
size_t ListedOutput(const Client& client);

// "id=3 addr=127.0.0.1:50000 …" with a line feed at its end. `elapsed_ms` is that
// of the clock now.
void AppendClientLine(std::string& out, const Client& client, int64_t elapsed_ms);

}  // namespace tally::server
