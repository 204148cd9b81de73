// A request as handlers see it, and the response that they give.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/http/percent.h"
#include "server/interfaces/conversation.h"
#include "server/interfaces/services.h"
#include "server/state/client.h"

namespace tally::server {

// Bits, so that a route can name several.
enum HttpMethod : uint8_t {
  kHttpGet = 1 << 0,
  kHttpHead = 1 << 1,  // answered as GET is, without the body
  kHttpPost = 1 << 2,
  kHttpOther = 1 << 3,
};

struct HttpHeader {
  std::string_view name;  // as received, in any case
  std::string_view value;
};

// Its views point into the request reader and are valid until the response is written.
struct HttpRequest {
  HttpMethod method = kHttpOther;
  std::string_view authority;  // from the target if it has one, otherwise from Host; may be empty
  std::string_view path;       // of the target, still encoded
  std::string rest;            // decoded: the part of the path that a route's final '*' matches
  QueryFields query;           // decoded
  std::span<const HttpHeader> headers;
  std::string_view body;
  bool is_http_1_0 = false;
  bool keep_alive = false;

  // Returns the value of the first header with this name. `name` must be lower case; the headers'
  // own names may be in any case.
  std::optional<std::string_view> Header(std::string_view name) const;
  // Returns the value of the first query field with this name.
  std::optional<std::string_view> Query(std::string_view name) const;
};

class LongAnswer;

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";  // a literal
  std::string headers = {};  // further headers: whole lines, each with its CR LF
  std::string body = {};
  // True: caches may keep the response, but must ask each time whether it is still the same
  // (no-cache). False: nobody may keep it (no-store), because it changes from moment to moment.
  bool may_be_kept = false;
  // The body has no end: `body` holds its beginning, and EventStreams sends the rest.
  bool streams = false;
  // If not null, it makes the response that is sent, and this response is ignored.
  std::unique_ptr<LongAnswer> long_answer = nullptr;
};

// What a handler is called with.
struct HttpCall {
  const Services& server;
  Client& client;  // of the connection, with the user of the request; speaks RESP3
  const HttpRequest& request;
  int64_t now_ms;  // unix time of the turn
};

using HttpHandler = HttpResponse (*)(const HttpCall& call);

// An answer that may take more than one turn, as a batch of commands does.
class LongAnswer {
 public:
  virtual ~LongAnswer() = default;
  // Continues within the share of this turn. Returns true when `response` is complete. Otherwise it
  // is called again in a later turn, for the same request.
  virtual bool Continue(const HttpCall& call, const TurnShare& share, HttpResponse& response) = 0;
};

}  // namespace tally::server
