// Parses requests from bytes that may be split anywhere, and limits the size of a request. It uses
// no sockets and no clock.
//
// http-parser reads the head and checks its grammar; HttpBodyReader reads the body. This class also
// refuses what http-parser accepts, but two servers may read differently: a blank in a header's
// name or in the target, a byte that is no text, a CR that ends no line, a header that goes on in
// the next line, two lengths, a length together with a transfer coding, a transfer coding other
// than "chunked", and one in HTTP/1.0.
#pragma once

#include <http_parser.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/http/body_reader.h"
#include "server/http/http_message.h"

namespace tally::server {

class HttpRequestReader {
 public:
  enum class Status {
    kNeedMore,  // all bytes were taken; the request is not whole yet
    kRequest,   // request() is whole; the bytes that were not taken come after it
    kError,     // see error_status() and error_text(); the connection must be closed
  };

  HttpRequestReader();
  HttpRequestReader(const HttpRequestReader&) = delete;
  HttpRequestReader& operator=(const HttpRequestReader&) = delete;

  // The most bytes that a body may have. May be changed between two requests.
  void set_max_body(size_t most) { body_.set_most(most); }
  // The same for the body of this request, while it is awaited. Returns false, with the error set,
  // if more bytes have come or are announced.
  bool LimitBody(size_t most);

  // Takes bytes from the front of `bytes`. After kRequest it must not be called before Clear, and
  // after kError never again. O(bytes). Memory grows with the bytes received, up to the limits.
  Status Read(std::string_view& bytes);
  // Valid after kRequest, until Clear. While the body is awaited, valid without the body.
  const HttpRequest& request() const { return request_; }
  HttpRequest& request() { return request_; }
  // Forgets the request, for the next one.
  void Clear();

  // Whether no request has begun since the last Clear.
  bool idle() const { return !begun_; }
  // Whether the head has come, and the body has not come to its end.
  bool awaits_body() const { return head_done_ && !complete_ && error_status_ == 0; }
  // Whether the client waits for "100 Continue" before it sends the body.
  bool expects_continue() const { return expects_continue_ && body_.body().empty(); }

  int error_status() const { return error_status_; }
  std::string_view error_text() const { return error_text_; }
  size_t heap_bytes() const { return text_.capacity() + body_.heap_bytes(); }

 private:
  struct Extent {
    size_t begin = 0;
    size_t size = 0;
  };
  struct HeaderExtents {
    Extent name;
    Extent value;
  };
  template <int (HttpRequestReader::*kMember)(std::string_view)>
  static int OnData(http_parser* parser, const char* data, size_t size);
  template <int (HttpRequestReader::*kMember)()>
  static int OnEvent(http_parser* parser);
  static const http_parser_settings& Settings();

  int OnBegin();
  int OnUrl(std::string_view bytes);
  int OnName(std::string_view bytes);
  int OnValue(std::string_view bytes);
  int OnHead();
  int OnHeadEnd();

  void ReadHead(std::string_view& bytes);
  void ReadBody(std::string_view& bytes);
  // Checks bytes of the head for what http-parser does not check in all places.
  bool HasProperLines(std::string_view head);

  // Appends bytes of the head to text_ and to `extent`, which must be empty or end where text_
  // ends. Returns false, with the error set, if the head becomes too large.
  bool Grow(Extent& extent, std::string_view bytes);
  void FillRequest();
  bool FillTarget();
  bool CheckHeaders();
  bool CheckLengths();
  // Begins the body that the headers announce.
  bool BeginBody(bool has_length, bool is_chunked);
  bool CheckExpectation();
  int Fail(int status, std::string_view text);
  void FailAsParser();
  std::string_view View(const Extent& extent) const {
    return std::string_view(text_).substr(extent.begin, extent.size);
  }

  http_parser parser_;
  bool begun_ = false;
  bool head_done_ = false;
  bool in_value_ = false;
  bool expects_continue_ = false;
  bool complete_ = false;
  char last_ = 0;     // the last byte of the head that has come
  std::string text_;  // of the request line and the headers
  Extent url_;
  std::vector<HeaderExtents> extents_;
  std::vector<HttpHeader> headers_;
  HttpBodyReader body_;
  HttpRequest request_;
  int error_status_ = 0;
  std::string_view error_text_;
};

}  // namespace tally::server
