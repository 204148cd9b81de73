// Writes responses: the only place that knows their form on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes/byte_blocks.h"
#include "server/http/http_message.h"

namespace tally::server {

// The Date header, formatted once a second.
class HttpDate {
 public:
  // Returns a text such as "Sun, 06 Nov 1994 08:49:37 GMT", which is valid until the next call.
  std::string_view At(int64_t unix_ms);

 private:
  int64_t second_ = INT64_MIN;
  std::string text_;
};

// How the response is sent.
struct ResponseForm {
  bool body = true;  // not for HEAD
  bool keep_alive = true;
  bool is_http_1_0 = false;
  std::string_view date;
};

void AppendResponse(ByteBlocks& output, const HttpResponse& response, const ResponseForm& form);
// "HTTP/1.1 100 Continue"
void AppendContinue(ByteBlocks& output);

// Returns a response whose body is AppendErrorJson's. `text` begins with its code, such as "ERR".
HttpResponse ErrorResponse(int status, std::string_view text);
// Returns the same response as the bytes to send. It says `Connection: close`: the caller must
// close the connection after it.
std::string WholeErrorResponse(int status, std::string_view text);

}  // namespace tally::server
