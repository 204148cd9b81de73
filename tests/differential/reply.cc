#include "tests/differential/reply.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "server/log/quoted.h"

namespace tally::differential {
namespace {

constexpr size_t kShownBytes = 600;

struct Header {
  char type;
  std::string_view line;
  size_t bytes;    // with its CR and LF; 0 while it is cut off
  int64_t length;  // of bulk strings and aggregates
};

bool HasLength(char type) { return std::string_view("$*~%>=").find(type) != std::string::npos; }

Header ReadHeader(std::string_view bytes) {
  const size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos) return {};
  Check(end > 0 && std::string_view("+-:$*~%>,#_(=").find(bytes[0]) != std::string_view::npos,
        "a reply is RESP");
  Header header{bytes[0], bytes.substr(1, end - 1), end + 2, 0};
  if (HasLength(header.type)) {
    const auto length = ParseInt64(header.line);
    Check(length && *length >= -1, "a length is a number");
    header.length = *length;
  }
  return header;
}

// How many replies stand inside one with this header.
size_t PartsOf(const Header& header) {
  if (header.type == '$' || header.type == '=' || header.length <= 0) return 0;
  return static_cast<size_t>(header.length) * (header.type == '%' ? 2 : 1);
}

size_t BodyOf(const Header& header) {
  const bool bulk = header.type == '$' || header.type == '=';
  return bulk && header.length >= 0 ? static_cast<size_t>(header.length) + 2 : 0;
}

Reply ParseFront(std::string_view& rest) {
  const std::string_view begin = rest;
  const Header header = ReadHeader(rest);
  Check(header.bytes > 0, "a reply is whole");
  Reply reply;
  reply.type = header.type;
  reply.text = header.line;
  reply.null = header.type == '_' || (HasLength(header.type) && header.length < 0);
  rest.remove_prefix(header.bytes);
  if (const size_t body = BodyOf(header); body > 0) {
    reply.text = rest.substr(0, body - 2);
    rest.remove_prefix(body);
  }
  const size_t parts = PartsOf(header);
  reply.parts.reserve(parts);
  for (size_t i = 0; i < parts; ++i) reply.parts.push_back(ParseFront(rest));
  reply.bytes = begin.substr(0, begin.size() - rest.size());
  return reply;
}

}  // namespace

size_t ReplySize(std::string_view bytes) {
  size_t size = 0;
  for (size_t left = 1; left > 0; --left) {
    const Header header = ReadHeader(bytes.substr(std::min(size, bytes.size())));
    if (header.bytes == 0) return 0;
    size += header.bytes + BodyOf(header);
    left += PartsOf(header);
  }
  return size <= bytes.size() ? size : 0;
}

Reply ParseReply(std::string_view bytes) { return ParseFront(bytes); }

std::string Quoted(std::string_view bytes) {
  std::string text;
  server::AppendQuoted(text, bytes.substr(0, kShownBytes));
  if (bytes.size() > kShownBytes) text += " …";
  return text;
}

}  // namespace tally::differential
