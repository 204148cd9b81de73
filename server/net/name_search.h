// Finds the addresses of a name. The system's resolver waits, for seconds if a name server does not
// answer; so each search has a thread of its own. Nobody waits for it: what is found when the
// search was given up is dropped, and a thread that is left ends with the process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/net/socket_address.h"

namespace tally::server {

class NameSearch {
 public:
  NameSearch(const std::string& name, uint16_t port);

  struct Result {
    std::vector<SocketAddress> addresses;  // in the order in which they should be tried
    std::string error;                     // why there are none
  };
  // Nothing while the search goes on; the result once.
  std::optional<Result> Take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace tally::server
