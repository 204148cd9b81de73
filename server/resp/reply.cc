#include "server/resp/reply.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/base/check.h"
#include "core/bytes/double_format.h"
#include "core/bytes/number.h"
#include "server/resp/resp_command.h"

namespace tally::server {
namespace {

constexpr std::string_view kCrLf = "\r\n";
// Bulk strings and lines with at most this many bytes are written into one contiguous piece of the
// output.
constexpr size_t kShortBulk = 104;
static_assert(kMaxHeaderBytes + kShortBulk + kCrLf.size() <= ByteBlocks::kMostRoom);
static_assert(ReplyBuilder::kMaxIntegers * kMaxHeaderBytes <= ByteBlocks::kMostRoom);

// Line ends are removed from an error, because it may echo what a client sent.
inline bool EndsLine(char c) { return c == '\r' || c == '\n'; }

}  // namespace

ReplyBuilder::ReplyBuilder(ByteBlocks& output, int protocol) : output_(output), protocol_(2) {
  set_protocol(protocol);
}

void ReplyBuilder::set_protocol(int protocol) {
  Check(protocol == 2 || protocol == 3, "the protocol is RESP2 or RESP3");
  protocol_ = protocol;
}

void ReplyBuilder::Status(std::string_view text) { Line('+', text); }

void ReplyBuilder::Ok() { output_.Append("+OK\r\n"); }

void ReplyBuilder::Error(std::string_view text) { Line('-', text); }

void ReplyBuilder::Line(char type, std::string_view text) {
  while (!text.empty() && EndsLine(text.front())) text.remove_prefix(1);
  while (!text.empty() && EndsLine(text.back())) text.remove_suffix(1);
  const auto blank = [](char c) { return EndsLine(c) ? ' ' : c; };
  if (text.size() > kShortBulk) {
    std::string line(1, type);
    line.reserve(1 + text.size() + kCrLf.size());
    std::transform(text.begin(), text.end(), std::back_inserter(line), blank);
    return output_.Append(line.append(kCrLf));
  }
  char* end = output_.Room(1 + kShortBulk + kCrLf.size());
  *end++ = type;
  end = std::transform(text.begin(), text.end(), end, blank);
  *end++ = '\r';
  *end++ = '\n';
  output_.Commit(end);
}

void ReplyBuilder::Header(char type, int64_t value) {
  output_.Commit(WriteHeader(output_.Room(kMaxHeaderBytes), type, value));
}

void ReplyBuilder::Integer(int64_t value) { Header(':', value); }

void ReplyBuilder::Integers(std::span<const int64_t> values) {
  Check(values.size() <= kMaxIntegers, "few integers are replied in one piece");
  char* end = output_.Room(kMaxIntegers * kMaxHeaderBytes);
  for (const int64_t value : values) end = WriteHeader(end, ':', value);
  output_.Commit(end);
}

void ReplyBuilder::IntegerPair(int64_t first, int64_t second) {
  char* end = WriteHeader(output_.Room(3 * kMaxHeaderBytes), '*', 2);
  end = WriteHeader(end, ':', first);
  output_.Commit(WriteHeader(end, ':', second));
}

void ReplyBuilder::Bulk(std::string_view value) {
  if (value.size() > kShortBulk) {
    Header('$', static_cast<int64_t>(value.size()));
    output_.Append(value);
    return output_.Append(kCrLf);
  }
  char* end = WriteHeader(output_.Room(kMaxHeaderBytes + kShortBulk + kCrLf.size()), '$',
                          static_cast<int64_t>(value.size()));
  end = std::copy(value.begin(), value.end(), end);
  *end++ = '\r';
  *end++ = '\n';
  output_.Commit(end);
}

void ReplyBuilder::Bulk(const SharedBytes& value) {
  Header('$', static_cast<int64_t>(value.size()));
  output_.Append(value);
  output_.Append(kCrLf);
}

void ReplyBuilder::Bulk(const ElementView& element) {
  if (element.shareable()) [[unlikely]]
    return Bulk(SharedBytes(element));
  Bulk(std::string_view(element));
}

void ReplyBuilder::BulkInteger(int64_t value) { Bulk(Int64Text(value).view()); }

void ReplyBuilder::Verbatim(std::string_view format, std::string_view text) {
  Check(format.size() == 3, "a verbatim string's format has three letters");
  if (protocol_ == 2) return Bulk(text);
  Header('=', static_cast<int64_t>(text.size() + 4));
  output_.Append(format);
  output_.Append(":");
  output_.Append(text);
  output_.Append(kCrLf);
}

void ReplyBuilder::Double(double value) {
  char digits[kMaxDoubleBytes];
  const std::string_view text(digits, FormatDouble(value, digits));
  if (protocol_ == 2) return Bulk(text);
  output_.Append(",");
  output_.Append(text);
  output_.Append(kCrLf);
}

void ReplyBuilder::Bool(bool value) {
  if (protocol_ == 2) return Integer(value ? 1 : 0);
  output_.Append(value ? "#t\r\n" : "#f\r\n");
}

void ReplyBuilder::Null() { output_.Append(protocol_ == 2 ? "$-1\r\n" : "_\r\n"); }

void ReplyBuilder::NullArray() { output_.Append(protocol_ == 2 ? "*-1\r\n" : "_\r\n"); }

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
  char header[kMaxHeaderBytes];
  const char* end = WriteHeader(header, type, static_cast<int64_t>(value));
  output_.Insert(mark, {header, static_cast<size_t>(end - header)});
}

void ReplyBuilder::EndArray(size_t mark, size_t elements) { InsertHeader(mark, '*', elements); }

void ReplyBuilder::EndMap(size_t mark, size_t pairs) {
  protocol_ == 2 ? InsertHeader(mark, '*', 2 * pairs) : InsertHeader(mark, '%', pairs);
}

void ReplyBuilder::EndSet(size_t mark, size_t elements) {
  InsertHeader(mark, protocol_ == 2 ? '*' : '~', elements);
}

void ReplyBuilder::Raw(std::string_view bytes) { output_.Append(bytes); }

}  // namespace tally::server
