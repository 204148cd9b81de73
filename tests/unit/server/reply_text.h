// Replies in a notation that fits into one line of a test, with every type of RESP kept apart:
//   +OK  -ERR no  :1  "bulk"  nil  nil[]  [a b]  {k v}  ~[set]  >[push]  ,1.5  #t  txt:"verbatim"
#pragma once

#include <catch2/catch.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "server/log/quoted.h"

namespace tally::server {

class ReplyText {
 public:
  // All replies in `wire`, separated by blanks.
  static std::string Of(std::string_view wire) {
    ReplyText text(wire);
    while (!text.wire_.empty()) text.One();
    return text.out_;
  }

 private:
  explicit ReplyText(std::string_view wire) : wire_(wire) {}

  // Fails the test unless it holds. REQUIRE would count each assertion that holds, which costs far
  // more than the comparison, and random tests read replies by the million.
  static void Need(bool holds, const char* what) {
    if (!holds) FAIL("no reply: " << what);
  }

  std::string_view Line() {
    const size_t end = wire_.find("\r\n");
    Need(end != std::string_view::npos, "a line without an end");
    const std::string_view line = wire_.substr(0, end);
    wire_.remove_prefix(end + 2);
    return line;
  }

  int Length(std::string_view digits) {
    int length = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    // Nothing and a number too large for an int end where they should, too.
    Need(result.ec == std::errc() && result.ptr == digits.data() + digits.size(),
         "a length that is no number");
    return length;
  }

  std::string_view Bytes(int length) {
    const auto size = static_cast<size_t>(length);
    Need(length >= 0 && wire_.size() >= size + 2, "a string that is cut off");
    Need(wire_[size] == '\r' && wire_[size + 1] == '\n', "a string without an end");
    const std::string_view bytes = wire_.substr(0, size);
    wire_.remove_prefix(size + 2);
    return bytes;
  }

  void Elements(std::string_view open, int count, char close) {
    out_ += open;
    for (int i = 0; i < count; ++i) One();
    out_ += close;
  }

  void One() {
    constexpr std::string_view kNoBlankAfter = "[{";
    if (!out_.empty() && kNoBlankAfter.find(out_.back()) == std::string_view::npos) out_ += ' ';
    const std::string_view line = Line();
    Need(!line.empty(), "an empty line");
    const std::string_view rest = line.substr(1);
    switch (line[0]) {
      case '$':
        return rest == "-1" ? void(out_ += "nil") : AppendQuoted(out_, Bytes(Length(rest)));
      case '=': {
        const std::string_view bytes = Bytes(Length(rest));
        out_ += bytes.substr(0, 4);
        return AppendQuoted(out_, bytes.substr(4));
      }
      case '_':
        return void(out_ += "nil");
      case '*':
        return rest == "-1" ? void(out_ += "nil[]") : Elements("[", Length(rest), ']');
      case '%':
        return Elements("{", 2 * Length(rest), '}');
      case '~':
        return Elements("~[", Length(rest), ']');
      case '>':
        return Elements(">[", Length(rest), ']');
      case '+':
      case '-':
      case ':':
      case ',':
      case '#':
        return void(out_ += line);
      default:
        FAIL("no reply begins with " << line[0]);
    }
  }

  std::string_view wire_;
  std::string out_;
};

}  // namespace tally::server
