#include "server/resp/reply.h"

#include <algorithm>
#include <iterator>

#include "core/bytes/double_format.h"
#include "core/bytes/number.h"
#include "core/check.h"

namespace tally::server {
namespace {

constexpr std::string_view kCrLf = "\r\n";
constexpr size_t kMaxHeaderBytes = 1 + kMaxInt64Chars + kCrLf.size();
// Bulk strings up to this size are put together on the stack and appended at once.
constexpr size_t kShortBulk = 104;

// An error may echo what a client sent: it stays on one line.
inline bool EndsLine(char c) { return c == '\r' || c == '\n'; }

// Writes "<type><value>\r\n"; `to` has room for kMaxHeaderBytes. Returns the end.
inline char* WriteHeader(char* to, char type, int64_t value) {
  *to++ = type;
  if (value >= 0 && value <= 9) [[likely]] {
    *to++ = static_cast<char>('0' + value);
  } else {
    to = WriteInt64(to, value);
  }
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

}  // namespace

ReplyBuilder::ReplyBuilder(std::string& output, int protocol) : output_(output), protocol_(2) {
  set_protocol(protocol);
}

void ReplyBuilder::set_protocol(int protocol) {
  Check(protocol == 2 || protocol == 3, "the protocol is RESP2 or RESP3");
  protocol_ = protocol;
}

void ReplyBuilder::Status(std::string_view text) { Line('+', text); }

void ReplyBuilder::Ok() { output_.append("+OK\r\n", 5); }

void ReplyBuilder::Error(std::string_view text) { Line('-', text); }

void ReplyBuilder::Line(char type, std::string_view text) {
  while (!text.empty() && EndsLine(text.front())) text.remove_prefix(1);
  while (!text.empty() && EndsLine(text.back())) text.remove_suffix(1);
  const auto blank = [](char c) { return EndsLine(c) ? ' ' : c; };
  if (text.size() > kShortBulk) {
    output_.push_back(type);
    std::transform(text.begin(), text.end(), std::back_inserter(output_), blank);
    output_.append(kCrLf);
    return;
  }
  char line[1 + kShortBulk + 2];
  line[0] = type;
  char* end = std::transform(text.begin(), text.end(), line + 1, blank);
  *end++ = '\r';
  *end++ = '\n';
  output_.append(line, static_cast<size_t>(end - line));
}

void ReplyBuilder::Header(char type, int64_t value) {
  char header[kMaxHeaderBytes];
  output_.append(header, static_cast<size_t>(WriteHeader(header, type, value) - header));
}

void ReplyBuilder::Integer(int64_t value) { Header(':', value); }

void ReplyBuilder::Integers(std::span<const int64_t> values) {
  Check(values.size() <= kMaxIntegers, "few integers are replied in one piece");
  char headers[kMaxIntegers * kMaxHeaderBytes];
  char* end = headers;
  for (const int64_t value : values) end = WriteHeader(end, ':', value);
  output_.append(headers, static_cast<size_t>(end - headers));
}

void ReplyBuilder::IntegerPair(int64_t first, int64_t second) {
  char headers[3 * kMaxHeaderBytes];
  char* end = WriteHeader(headers, '*', 2);
  end = WriteHeader(end, ':', first);
  end = WriteHeader(end, ':', second);
  output_.append(headers, static_cast<size_t>(end - headers));
}

void ReplyBuilder::Bulk(std::string_view value) {
  if (value.size() > kShortBulk) {
    Header('$', static_cast<int64_t>(value.size()));
    output_.append(value).append(kCrLf);
    return;
  }
  char bulk[kMaxHeaderBytes + kShortBulk + 2];
  char* end = WriteHeader(bulk, '$', static_cast<int64_t>(value.size()));
  end = std::copy(value.begin(), value.end(), end);
  *end++ = '\r';
  *end++ = '\n';
  output_.append(bulk, static_cast<size_t>(end - bulk));
}

void ReplyBuilder::BulkInteger(int64_t value) { Bulk(Int64Text(value).view()); }

void ReplyBuilder::Verbatim(std::string_view format, std::string_view text) {
  Check(format.size() == 3, "a verbatim string's format has three letters");
  if (protocol_ == 2) return Bulk(text);
  Header('=', static_cast<int64_t>(text.size() + 4));
  output_.append(format).append(":").append(text).append(kCrLf);
}

void ReplyBuilder::Double(double value) {
  if (protocol_ == 2) {
    char digits[kMaxDoubleBytes];
    return Bulk({digits, FormatDouble(value, digits)});
  }
  output_.push_back(',');
  AppendDouble(output_, value);
  output_.append(kCrLf);
}

void ReplyBuilder::Bool(bool value) {
  if (protocol_ == 2) return Integer(value ? 1 : 0);
  output_.append(value ? "#t\r\n" : "#f\r\n", 4);
}

void ReplyBuilder::Null() { output_.append(protocol_ == 2 ? "$-1\r\n" : "_\r\n"); }

void ReplyBuilder::NullArray() { output_.append(protocol_ == 2 ? "*-1\r\n" : "_\r\n"); }

void ReplyBuilder::Array(size_t elements) { Header('*', static_cast<int64_t>(elements)); }

void ReplyBuilder::Map(size_t pairs) {
  protocol_ == 2 ? Array(2 * pairs) : Header('%', static_cast<int64_t>(pairs));
}

void ReplyBuilder::Set(size_t elements) {
  Header(protocol_ == 2 ? '*' : '~', static_cast<int64_t>(elements));
}

void ReplyBuilder::Push(size_t elements) {
  Header(protocol_ == 2 ? '*' : '>', static_cast<int64_t>(elements));
}

void ReplyBuilder::InsertHeader(size_t mark, char type, size_t value) {
  Check(mark <= output_.size(), "the mark is of this output");
  char header[kMaxHeaderBytes];
  const char* end = WriteHeader(header, type, static_cast<int64_t>(value));
  output_.insert(mark, header, static_cast<size_t>(end - header));
}

void ReplyBuilder::EndArray(size_t mark, size_t elements) { InsertHeader(mark, '*', elements); }

void ReplyBuilder::EndMap(size_t mark, size_t pairs) {
  protocol_ == 2 ? InsertHeader(mark, '*', 2 * pairs) : InsertHeader(mark, '%', pairs);
}

void ReplyBuilder::EndSet(size_t mark, size_t elements) {
  InsertHeader(mark, protocol_ == 2 ? '*' : '~', elements);
}

void ReplyBuilder::Raw(std::string_view bytes) { output_.append(bytes); }

}  // namespace tally::server
