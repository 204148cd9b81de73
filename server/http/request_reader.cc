#include "server/http/request_reader.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/words/word.h"
#include "server/config/config.h"
#include "server/http/header_text.h"
#include "server/http/http_limits.h"

namespace tally::server {
namespace {

// A buffer with more capacity than this is freed after the request.
constexpr size_t kKeptBytes = 32 * 1024;

bool IsTokenByte(char byte) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return absl::ascii_isalnum(static_cast<unsigned char>(byte)) ||
         kMarks.find(byte) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenByte);
}

HttpMethod MethodOf(unsigned method) {
  switch (method) {
    case HTTP_GET:
      return kHttpGet;
    case HTTP_HEAD:
      return kHttpHead;
    case HTTP_POST:
      return kHttpPost;
    default:
      return kHttpOther;
  }
}

// Clears the text, and frees its memory if it is large.
void Empty(std::string& text) {
  if (text.capacity() > kKeptBytes) {
    text = std::string();
  } else {
    text.clear();
  }
}

}  // namespace

template <int (HttpRequestReader::*kMember)(std::string_view)>
int HttpRequestReader::OnData(http_parser* parser, const char* data, size_t size) {
  return (static_cast<HttpRequestReader*>(parser->data)->*kMember)({data, size});
}

template <int (HttpRequestReader::*kMember)()>
int HttpRequestReader::OnEvent(http_parser* parser) {
  return (static_cast<HttpRequestReader*>(parser->data)->*kMember)();
}

const http_parser_settings& HttpRequestReader::Settings() {
  using Reader = HttpRequestReader;
  static const http_parser_settings kSettings = [] {
    http_parser_settings settings;
    http_parser_settings_init(&settings);
    settings.on_message_begin = OnEvent<&Reader::OnBegin>;
    settings.on_url = OnData<&Reader::OnUrl>;
    settings.on_header_field = OnData<&Reader::OnName>;
    settings.on_header_value = OnData<&Reader::OnValue>;
    settings.on_headers_complete = OnEvent<&Reader::OnHead>;
    settings.on_body = OnData<&Reader::OnBody>;
    settings.on_message_complete = OnEvent<&Reader::OnEnd>;
    return settings;
  }();
  return kSettings;
}

HttpRequestReader::HttpRequestReader() : max_body_(static_cast<size_t>(kMib)) {
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
}

HttpRequestReader::Status HttpRequestReader::Read(std::string_view& bytes) {
  const size_t taken = http_parser_execute(&parser_, &Settings(), bytes.data(), bytes.size());
  bytes.remove_prefix(std::min(taken, bytes.size()));
  if (error_status_ != 0) return Status::kError;
  if (complete_) {
    http_parser_pause(&parser_, 0);
    FillRequest();
    return error_status_ == 0 ? Status::kRequest : Status::kError;
  }
  if (HTTP_PARSER_ERRNO(&parser_) == HPE_OK && bytes.empty()) return Status::kNeedMore;
  FailAsParser();
  return Status::kError;
}

void HttpRequestReader::FailAsParser() {
  switch (HTTP_PARSER_ERRNO(&parser_)) {
    case HPE_HEADER_OVERFLOW:
      Fail(431, "the headers are too large");
      break;
    case HPE_INVALID_TRANSFER_ENCODING:
      Fail(400, "a transfer coding other than chunked, or one beside a length");
      break;
    case HPE_UNEXPECTED_CONTENT_LENGTH:
      Fail(400, "two lengths, or a length beside a transfer coding");
      break;
    default:
      Fail(400, "this is no HTTP request");
  }
}

void HttpRequestReader::Clear() {
  begun_ = head_done_ = in_value_ = expects_continue_ = complete_ = false;
  url_ = {};
  extents_.clear();
  headers_.clear();
  Empty(text_);
  Empty(body_);
  request_ = {};
}

bool HttpRequestReader::TakeExpectation() {
  const bool expects = expects_continue_ && head_done_ && body_.empty() && !complete_;
  expects_continue_ = false;
  return expects;
}

int HttpRequestReader::OnBegin() {
  begun_ = true;
  return 0;
}

bool HttpRequestReader::Grow(Extent& extent, std::string_view bytes) {
  if (text_.size() + bytes.size() > kMaxHttpHead) {
    Fail(431, "the request line and the headers are too large");
    return false;
  }
  if (extent.size == 0) extent.begin = text_.size();
  text_ += bytes;
  extent.size += bytes.size();
  return true;
}

int HttpRequestReader::OnUrl(std::string_view bytes) { return Grow(url_, bytes) ? 0 : 1; }

// Trailers, which are headers after the body, are ignored.
int HttpRequestReader::OnName(std::string_view bytes) {
  if (head_done_) return 0;
  if (in_value_ || extents_.empty()) {
    if (extents_.size() == kMaxHttpHeaders) return Fail(431, "too many headers");
    extents_.emplace_back();
    in_value_ = false;
  }
  return Grow(extents_.back().name, bytes) ? 0 : 1;
}

int HttpRequestReader::OnValue(std::string_view bytes) {
  if (head_done_) return 0;
  in_value_ = true;
  return Grow(extents_.back().value, bytes) ? 0 : 1;
}

int HttpRequestReader::OnHead() {
  head_done_ = true;
  for (const HeaderExtents& header : extents_) {
    headers_.push_back({View(header.name), Trim(View(header.value))});
  }
  request_.headers = headers_;
  if (parser_.http_major != 1) return Fail(505, "HTTP/1.0 and 1.1 are spoken here");
  if (parser_.method == HTTP_CONNECT) return Fail(405, "this is no proxy");
  if (!CheckHeaders() || !CheckLengths() || !CheckExpectation()) return 1;
  // A request to upgrade to another protocol is answered in HTTP/1.
  parser_.upgrade = 0;
  return 0;
}

bool HttpRequestReader::CheckHeaders() {
  int hosts = 0;
  for (const HttpHeader& header : headers_) {
    if (!IsToken(header.name)) return Fail(400, "a header without a proper name") == 0;
    hosts += IsWord(header.name, "host") ? 1 : 0;
  }
  const bool needs_host = parser_.http_minor >= 1;
  if (hosts > 1 || (needs_host && hosts == 0)) return Fail(400, "one Host is needed") == 0;
  return true;
}

bool HttpRequestReader::CheckLengths() {
  int lengths = 0;
  int codings = 0;
  for (const HttpHeader& header : headers_) {
    if (IsWord(header.name, "content-length")) {
      ++lengths;
      const bool digits = !header.value.empty() &&
                          header.value.find_first_not_of("0123456789") == std::string_view::npos;
      if (!digits) return Fail(400, "a length that is no number") == 0;
    } else if (IsWord(header.name, "transfer-encoding")) {
      ++codings;
      if (!IsWord(header.value, "chunked")) {
        return Fail(501, "a transfer coding other than chunked") == 0;
      }
    }
  }
  if (lengths + codings > 1) {
    return Fail(400, "two lengths, or a length beside a transfer coding") == 0;
  }
  if (lengths == 1 && parser_.content_length > max_body_) {
    return Fail(413, "the body is larger than http-max-body") == 0;
  }
  return true;
}

bool HttpRequestReader::CheckExpectation() {
  const auto expected = request_.Header("expect");
  if (!expected) return true;
  if (!IsWord(*expected, "100-continue")) {
    return Fail(417, "only 100-continue can be expected") == 0;
  }
  expects_continue_ = parser_.http_minor >= 1;
  return true;
}

int HttpRequestReader::OnBody(std::string_view bytes) {
  if (body_.size() + bytes.size() > max_body_) {
    return Fail(413, "the body is larger than http-max-body");
  }
  body_ += bytes;
  return 0;
}

int HttpRequestReader::OnEnd() {
  complete_ = true;
  http_parser_pause(&parser_, 1);
  return 0;
}

void HttpRequestReader::FillRequest() {
  request_.method = MethodOf(parser_.method);
  request_.body = body_;
  request_.is_http_1_0 = parser_.http_minor == 0;
  request_.keep_alive = http_should_keep_alive(&parser_) != 0;
  request_.authority = request_.Header("host").value_or("");
  if (!FillTarget()) Fail(400, "the target is no path with a query");
}

bool HttpRequestReader::FillTarget() {
  const std::string_view target = View(url_);
  http_parser_url url;
  http_parser_url_init(&url);
  if (http_parser_parse_url(target.data(), target.size(), 0, &url) != 0) return false;
  const auto field = [&](http_parser_url_fields which) -> std::string_view {
    if ((url.field_set & (1u << which)) == 0) return {};
    return target.substr(url.field_data[which].off, url.field_data[which].len);
  };
  if (!field(UF_USERINFO).empty()) return false;
  if (const std::string_view host = field(UF_HOST); !host.empty()) {
    // The authority includes the port, if there is one, and an IPv6 address's brackets, which
    // UF_HOST leaves out.
    const size_t begin = target.find("//") + 2;
    request_.authority = target.substr(begin, target.find_first_of("/?#", begin) - begin);
  }
  request_.path = field(UF_PATH);
  if (request_.path.empty()) request_.path = "/";
  auto query = ParseQuery(field(UF_QUERY));
  if (!query) return false;
  request_.query = *std::move(query);
  return true;
}

int HttpRequestReader::Fail(int status, std::string_view text) {
  error_status_ = status;
  error_text_ = text;
  return 1;
}

}  // namespace tally::server
