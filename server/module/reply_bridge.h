// Replies of the families' handlers as replies of the server.
#pragma once

#include <string>
#include <string_view>

#include "server/module/redis_module.h"

namespace tally::module {

class ReplyBridge {
 public:
  // Replies what is in `reply`, which is one whole reply in RESP2; the server turns it into the
  // client's protocol. O(bytes).
  void Send(redis::Context* context, std::string_view reply);

 private:
  // The next one of a reply's parts, which is taken off the front.
  void SendPart(redis::Context* context, std::string_view& reply);

  std::string line_;  // reused memory
};

}  // namespace tally::module
