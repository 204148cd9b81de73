#include "server/http/request_reader.h"

#include <algorithm>

#include "core/words/word.h"
#include "server/config/config.h"
#include "server/http/header_text.h"
#include "server/http/http_limits.h"

namespace tally::server {
namespace {

constexpr std::string_view kTooLarge =
    "the body is larger than http-max-body, or than 16 KiB where no user is asked for";

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
    settings.on_message_complete = OnEvent<&Reader::OnHeadEnd>;
    return settings;
  }();
  return kSettings;
}

HttpRequestReader::HttpRequestReader() {
  body_.set_most(static_cast<size_t>(kMib));
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
}

HttpRequestReader::Status HttpRequestReader::Read(std::string_view& bytes) {
  if (!head_done_) ReadHead(bytes);
  if (awaits_body()) ReadBody(bytes);
  if (error_status_ != 0) return Status::kError;
  return complete_ ? Status::kRequest : Status::kNeedMore;
}

void HttpRequestReader::ReadHead(std::string_view& bytes) {
  const size_t taken = http_parser_execute(&parser_, &Settings(), bytes.data(), bytes.size());
  const std::string_view head = bytes.substr(0, taken);
  bytes.remove_prefix(head.size());
  if (error_status_ != 0) return;
  if (head_done_) {
    http_parser_pause(&parser_, 0);
  } else if (HTTP_PARSER_ERRNO(&parser_) != HPE_OK || !bytes.empty()) {
    return FailAsParser();
  }
  if (!HasProperLines(head)) Fail(400, "the head's lines are not well formed");
}

bool HttpRequestReader::HasProperLines(std::string_view head) {
  for (const char byte : head) {
    const bool lone_cr = last_ == '\r' && byte != '\n';
    const bool goes_on = last_ == '\n' && (byte == ' ' || byte == '\t');
    const bool is_line_end = byte == '\r' || byte == '\n';
    if (lone_cr || goes_on || !(is_line_end || IsTextByte(byte))) return false;
    last_ = byte;
  }
  return true;
}

void HttpRequestReader::ReadBody(std::string_view& bytes) {
  switch (body_.Read(bytes)) {
    case HttpBodyReader::Status::kNeedMore:
      return;
    case HttpBodyReader::Status::kWhole:
      complete_ = true;
      request_.body = body_.body();
      return;
    case HttpBodyReader::Status::kTooLarge:
      Fail(413, kTooLarge);
      return;
    case HttpBodyReader::Status::kMalformed:
      Fail(400, "the chunks of the body are not well formed");
  }
}

bool HttpRequestReader::LimitBody(size_t most) {
  body_.set_most(std::min(most, body_.most()));
  return !body_.too_large() || Fail(413, kTooLarge) == 0;
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
  text_.clear();
  body_.Clear();
  last_ = 0;
  error_status_ = 0;
  request_ = {};
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

int HttpRequestReader::OnName(std::string_view bytes) {
  if (in_value_ || extents_.empty()) {
    if (extents_.size() == kMaxHttpHeaders) return Fail(431, "too many headers");
    extents_.emplace_back();
    in_value_ = false;
  }
  return Grow(extents_.back().name, bytes) ? 0 : 1;
}

int HttpRequestReader::OnValue(std::string_view bytes) {
  in_value_ = true;
  return Grow(extents_.back().value, bytes) ? 0 : 1;
}

// Always returns 1. For http-parser this means that the message ends with the head.
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
  FillRequest();
  return 1;
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
  return BeginBody(lengths == 1, codings == 1);
}

bool HttpRequestReader::BeginBody(bool has_length, bool is_chunked) {
  if (is_chunked) {
    // A server of HTTP/1.0 does not know chunks, and would take them for another request.
    if (parser_.http_minor == 0) return Fail(400, "a transfer coding in HTTP/1.0") == 0;
    body_.BeginChunks();
  } else {
    body_.BeginLength(has_length ? parser_.content_length : 0);
  }
  return !body_.too_large() || Fail(413, kTooLarge) == 0;
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

int HttpRequestReader::OnHeadEnd() {
  http_parser_pause(&parser_, 1);
  return 0;
}

void HttpRequestReader::FillRequest() {
  request_.method = MethodOf(parser_.method);
  request_.is_http_1_0 = parser_.http_minor == 0;
  request_.keep_alive = http_should_keep_alive(&parser_) != 0;
  request_.authority = request_.Header("host").value_or("");
  if (!FillTarget()) Fail(400, "the target is no path with a query");
}

bool HttpRequestReader::FillTarget() {
  const std::string_view target = View(url_);
  if (target.find('\t') != std::string_view::npos) return false;
  http_parser_url url;
  http_parser_url_init(&url);
  if (http_parser_parse_url(target.data(), target.size(), 0, &url) != 0) return false;
  const auto field = [&](http_parser_url_fields which) -> std::string_view {
    if ((url.field_set & (1u << which)) == 0) return {};
    return target.substr(url.field_data[which].off, url.field_data[which].len);
  };
  // No fragment is ever sent; of a key with a '#' only the beginning would count.
  if (!field(UF_USERINFO).empty() || target.find('#') != std::string_view::npos) return false;
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
