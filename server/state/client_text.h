// A client as a line of CLIENT LIST.
#pragma once

#include <cstdint>
#include <string>

#include "server/state/client.h"

namespace tally::server {

// Heap bytes that the client holds: its output, its unfinished request, its transaction.
size_t ClientMemory(const Client& client);

// What of its output does not lie in its first block, as bytes that are held: what
// client-output-buffer-limit is about.
size_t ListedOutput(const Client& client);

// "id=3 addr=127.0.0.1:50000 …" with a line feed at its end; now in unix ms.
void AppendClientLine(std::string& out, const Client& client, int64_t now_ms);

}  // namespace tally::server
