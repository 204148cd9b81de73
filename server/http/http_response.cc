#include "server/http/http_response.h"

#include <absl/time/time.h>

#include <string>

#include "core/bytes/str_cat.h"
#include "server/http/json_text.h"

namespace tally::server {
namespace {

// Every response has these headers. The page loads nothing from other sites, and no site may show
// it in a frame.
constexpr std::string_view kFixedHeaders =
    "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n";

std::string_view ReasonOf(int status) {
  struct Reason {
    int status;
    std::string_view text;
  };
  static constexpr Reason kReasons[] = {
      {200, "OK"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {413, "Content Too Large"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  };
  for (const Reason& reason : kReasons) {
    if (reason.status == status) return reason.text;
  }
  return "Status";
}

}  // namespace

std::string_view HttpDate::At(int64_t unix_ms) {
  const int64_t second = unix_ms / 1000;
  if (second != second_) {
    second_ = second;
    text_ = absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", absl::FromUnixSeconds(second),
                             absl::UTCTimeZone());
  }
  return text_;
}

void AppendResponse(ByteBlocks& output, const HttpResponse& response, const ResponseForm& form) {
  std::string head;
  head.reserve(512);
  StrAppend(head, "HTTP/1.1 ", response.status, " ", ReasonOf(response.status), "\r\n");
  if (!form.date.empty()) StrAppend(head, "Date: ", form.date, "\r\n");
  if (response.status != 204 && response.status != 304) {
    StrAppend(head, "Content-Type: ", response.content_type, "\r\n");
    if (!response.streams) StrAppend(head, "Content-Length: ", response.body.size(), "\r\n");
  }
  if (!form.keep_alive) {
    head += "Connection: close\r\n";
  } else if (form.is_http_1_0) {
    head += "Connection: keep-alive\r\n";
  }
  StrAppend(head, "Cache-Control: ", response.may_be_kept ? "no-cache" : "no-store", "\r\n",
            response.headers, kFixedHeaders, "\r\n");
  output.Append(head);
  if (form.body) output.Append(response.body);
}

void AppendContinue(ByteBlocks& output) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  output.Append(kContinue);
}

HttpResponse ErrorResponse(int status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  response.content_type = kJsonType;
  AppendErrorJson(response.body, text);
  response.body += '\n';
  return response;
}

std::string WholeErrorResponse(int status, std::string_view text) {
  ByteBlocks output;
  AppendResponse(output, ErrorResponse(status, text), {.keep_alive = false, .date = {}});
  return output.Joined();
}

}  // namespace tally::server
