// Parses RESP requests (multibulk and inline) out of a buffer that the caller owns and fills.
// Sans-IO: it sees bytes, never a socket. Arguments are views into the caller's buffer.
//
// The grammar, the limits and the error texts are those of redis-server 7.0. As there, a length
// line ends at its CR: neither the byte after the CR nor the two bytes after a bulk are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

struct ParserLimits {
  size_t max_args = std::numeric_limits<int32_t>::max();  // of one multibulk request
  size_t max_bulk = size_t{512} << 20;                    // bytes (proto-max-bulk-len)
  // The most bytes of an inline request or of a length line. Values below 64 count as 64.
  size_t max_inline = size_t{64} << 10;
  // Until a client has authenticated, a request has at most 10 arguments of 16384 bytes, whatever
  // the limits above say.
  bool authenticated = true;
};

enum class ParseStatus {
  kCommand,   // args() and consumed() are set; the caller skips a request whose args() is empty
  kNeedMore,  // the buffer lacks at least wanted() bytes of the request
  kError,     // see error(); the parser cannot resynchronise, the connection must be closed
};

class RequestParser {
 public:
  explicit RequestParser(const ParserLimits& limits = {}) { set_limits(limits); }

  // May be called at any time; a length that was already accepted is not checked again.
  void set_limits(const ParserLimits& limits);

  // Parses one request from the front of `buffer`. After kNeedMore call it again with the same
  // bytes and more after them, at any address. Parsed bytes are not parsed again, so a request
  // costs O(1) for each byte, however it is split. After kCommand the next buffer must begin
  // consumed() bytes later. Memory grows with the bytes received, never with a declared length.
  [[nodiscard]] ParseStatus Next(std::string_view buffer);

  // As Next, but also parses the requests after the first one as long as they are whole and
  // well-formed, so that the data of all of them can be prefetched together. After kCommand
  // requests() has 1 to kMaxBatch of them.
  [[nodiscard]] ParseStatus NextBatch(std::string_view buffer);
  static constexpr size_t kMaxBatch = 16;

  struct Request {
    size_t first_arg;
    size_t arg_count;
    size_t consumed;  // bytes of this request alone
  };
  // requests() and args_of() are valid after kCommand from NextBatch, until the buffer changes or
  // Next or NextBatch is called.
  std::span<const Request> requests() const { return requests_; }
  std::span<const std::string_view> args_of(const Request& request) const {
    return {args_.data() + request.first_arg, request.arg_count};
  }

  // Valid after kCommand from Next, until the buffer changes or Next is called.
  std::span<const std::string_view> args() const { return {args_.data(), argc_}; }
  // Bytes of the request that kCommand delivered; 0 after any other status.
  size_t consumed() const { return consumed_; }
  // After kNeedMore: at least this many bytes are missing. The client declares this number: use it
  // to size a read, not to allocate memory.
  size_t wanted() const { return wanted_; }
  // After kError: the text to reply after "ERR ". It may contain a byte that the client sent, even
  // CR or LF.
  std::string_view error() const { return error_; }
  // Bytes held on the heap. O(arguments that were quoted).
  size_t memory_usage() const;

 private:
  enum class Stage : uint8_t { kStart, kInline, kCount, kBulkLength, kBulkData, kFailed };
  // An argument of a request in progress. The offset counts from the request's begin, because the
  // buffer may move.
  struct Extent {
    size_t offset;
    size_t length;
  };

  bool ParseWhole(std::string_view buffer, size_t first_arg);
  ParseStatus ParseInline(std::string_view buffer);
  ParseStatus ParseMultibulk(std::string_view buffer);
  ParseStatus ReadCount(std::string_view buffer);
  ParseStatus ReadBulkLength(std::string_view buffer);
  ParseStatus FindLineEnd(std::string_view buffer, char terminator, const char* too_big,
                          size_t* end);
  bool SplitPlainWords(std::string_view line);
  bool SplitQuotedWords(std::string_view line);
  void GrowArgs(size_t count);
  void ReleaseSpareMemory();
  ParseStatus Complete(size_t argc, size_t consumed);
  ParseStatus NeedMore(size_t wanted);
  ParseStatus Fail(std::string_view error);

  ParserLimits limits_;
  size_t max_args_ = 0;  // the limits that apply, with or without authentication
  size_t max_bulk_ = 0;

  std::vector<std::string_view> args_;  // of one request (the first argc_), or of a whole batch
  std::vector<Request> requests_;
  size_t argc_ = 0;
  size_t consumed_ = 0;
  size_t wanted_ = 0;

  // The request in progress.
  Stage stage_ = Stage::kStart;
  bool oversized_ = false;  // holds memory that an ordinary request does not need
  size_t position_ = 0;     // parsed up to here
  size_t scanned_ = 0;      // no line end up to here
  size_t bulks_left_ = 0;
  size_t bulk_length_ = 0;
  std::vector<Extent> extents_;
  std::vector<std::string> unquoted_;  // words of an inline request with quotes; args_ views them
  std::string error_;
};

}  // namespace tally::server
