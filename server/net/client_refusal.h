// Decides whether a new connection becomes a client.
#pragma once

#include <string>

#include "server/interfaces/services.h"
#include "server/net/connection_table.h"

namespace tally::server {

struct NewConnection {
  int socket;
  bool is_local;  // from this machine
  Protocol protocol;
};

// Returns the text that the connection gets before it is closed, as it is not admitted; empty if it
// is admitted. Refused are those for which there is no place, and, in protected mode, those from
// other machines.
std::string RefusalOf(const NewConnection& connection, Services& server,
                      const ConnectionTable& connections);

}  // namespace tally::server
