// Sends the replies of the families' handlers through the server.
#pragma once

#include <string>
#include <string_view>

#include "server/module/redis_module.h"
#include "server/resp/reply_reader.h"

namespace tally::module {

class ReplyBridge {
 public:
  // Sends `reply`, which must be one whole reply in RESP2. The server converts it to the client's
  // protocol. O(bytes).
  void Send(redis::Context* context, std::string_view reply);

 private:
  void SendPart(redis::Context* context, const server::ReplyPart& part);
  // The text as a C string, valid until the next call. A zero byte would end it, so it is a blank.
  const char* Line(std::string_view text);

  std::string line_;  // reused memory
};

}  // namespace tally::module
