// Reads requests out of bytes that are cut anywhere, with http-parser, and bounds what one of them
// may hold. No sockets, no clock.
//
// http-parser knows the grammar. What it lets through, but two readers may understand differently,
// is refused here: a header's name with a blank in it, two lengths, a length beside a transfer
// coding, a coding other than "chunked".
#pragma once

#include <http_parser.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_message.h"

namespace tally::server {

class HttpRequestReader {
 public:
  enum class Status {
    kNeedMore,  // all bytes were taken, and the request goes on
    kRequest,   // request() is whole; what was not taken follows it
    kError,     // error_status() and error_text() say; the connection is to be closed
  };

  HttpRequestReader();
  HttpRequestReader(const HttpRequestReader&) = delete;
  HttpRequestReader& operator=(const HttpRequestReader&) = delete;

  // Bytes of a body; may be changed between two requests.
  void set_max_body(size_t most) { max_body_ = most; }

  // Takes bytes from the front. Not after a kRequest before Clear, and not after kError. O(bytes).
  // Memory grows with the bytes that came, up to the limits.
  Status Read(std::string_view& bytes);
  // Valid after kRequest, until Clear.
  const HttpRequest& request() const { return request_; }
  HttpRequest& request() { return request_; }
  // Forgets the request, for the next one.
  void Clear();

  // Whether nothing of a request has come.
  bool idle() const { return !begun_; }
  // Whether the client waits to be told that it may send the body. Says so once.
  bool TakeExpectation();

  int error_status() const { return error_status_; }
  std::string_view error_text() const { return error_text_; }
  size_t heap_bytes() const { return text_.capacity() + body_.capacity(); }

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
  int OnBody(std::string_view bytes);
  int OnEnd();

  // Adds bytes of the head to an extent that ends where the text does.
  bool Grow(Extent& extent, std::string_view bytes);
  void FillRequest();
  bool FillTarget();
  bool CheckHeaders();
  bool CheckLengths();
  bool CheckExpectation();
  int Fail(int status, std::string_view text);
  void FailAsParser();
  std::string_view View(const Extent& extent) const {
    return std::string_view(text_).substr(extent.begin, extent.size);
  }

  http_parser parser_;
  size_t max_body_;
  bool begun_ = false;
  bool head_done_ = false;
  bool in_value_ = false;
  bool expects_continue_ = false;
  bool complete_ = false;
  std::string text_;  // of the request line and the headers
  Extent url_;
  std::vector<HeaderExtents> extents_;
  std::vector<HttpHeader> headers_;
  std::string body_;
  HttpRequest request_;
  int error_status_ = 0;
  std::string_view error_text_;
};

}  // namespace tally::server
