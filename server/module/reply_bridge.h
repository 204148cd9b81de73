// Sends the replies of the families' handlers through the server.
#pragma once

#include <string>
#include <string_view>

#include "server/module/redis_module.h"

namespace tally::module {

class ReplyBridge {
 public:
  // Sends `reply`, which must be one whole reply in RESP2. The server converts it to the client's
  // protocol. O(bytes).
  void Send(redis::Context* context, std::string_view reply);

 private:
  // Sends the first part of `reply` and removes it from the front.
  void SendPart(redis::Context* context, std::string_view& reply);

  std::string line_;  // reused memory
};

}  // namespace tally::module
