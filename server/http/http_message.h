// A request as handlers see it, and the response that they give.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/http/percent.h"
#include "server/state/client.h"
#include "server/state/conversation.h"
#include "server/state/services.h"

namespace tally::server {

// Bits, so that a route can name several.
enum HttpMethod : uint8_t {
  kHttpGet = 1 << 0,
  kHttpHead = 1 << 1,  // answered as GET is, without the body
  kHttpPost = 1 << 2,
  kHttpOther = 1 << 3,
};

struct HttpHeader {
  std::string_view name;  // as it came
  std::string_view value;
};

// Views of what the reader holds: good until the response is written.
struct HttpRequest {
  HttpMethod method = kHttpOther;
  std::string_view authority;  // of the target, if that has one; otherwise of Host; may be empty
  std::string_view path;       // of the target, still encoded
  std::string rest;            // decoded: what of the path is after the route's
  QueryFields query;           // decoded
  std::span<const HttpHeader> headers;
  std::string_view body;
  bool is_http_1_0 = false;
  bool keep_alive = false;

  // The first header of that name, which is lower case; theirs may be in any case.
  std::optional<std::string_view> Header(std::string_view name) const;
  // The first field of that name.
  std::optional<std::string_view> Query(std::string_view name) const;
};

class LongAnswer;

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";  // a literal
  std::string headers = {};  // further ones: whole lines, each with its CR LF
  std::string body = {};
  // Whoever has it may keep it, and asks each time whether it is still the same. Otherwise nobody
  // keeps it: what is sent changes from one moment to the next.
  bool may_be_kept = false;
  // There is no end of the body: what comes before the first event is in `body`, and the rest from
  // EventStreams.
  bool streams = false;
  // If there is one, it makes the response that is sent, and this one is not.
  std::unique_ptr<LongAnswer> long_answer = nullptr;
};

// What a handler is called with.
struct HttpCall {
  Services& server;
  Client& client;  // of the connection, with the user of the request; speaks RESP3
  const HttpRequest& request;
  int64_t now_ms;  // unix time of the turn
};

using HttpHandler = HttpResponse (*)(const HttpCall& call);

// An answer that may take more than one turn, as a batch of commands does.
class LongAnswer {
 public:
  virtual ~LongAnswer() = default;
  // Goes on within the share of this turn. True when `response` is complete. Otherwise it is called
  // again in a later turn, with the same call.
  virtual bool GoOn(const HttpCall& call, const TurnShare& share, HttpResponse& response) = 0;
};

}  // namespace tally::server
