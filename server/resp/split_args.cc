#include "server/resp/split_args.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>

#include <cstddef>

namespace tally::server {
namespace {

bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }

char Unescape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  std::optional<std::vector<std::string>> Run() {
    std::vector<std::string> words;
    for (;;) {
      while (at_ < line_.size() && absl::ascii_isspace(line_[at_])) ++at_;
      if (at_ == line_.size()) return words;
      if (!ReadWord(words.emplace_back())) return std::nullopt;
    }
  }

 private:
  // Vertical tab and form feed are skipped between words, but do not end one, as in Redis.
  bool ReadWord(std::string& word) {
    for (; at_ < line_.size(); ++at_) {
      const char c = line_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return true;
      if (c == '"' || c == '\'') {
        ++at_;
        return (c == '"' ? ReadDoubleQuoted(word) : ReadSingleQuoted(word)) && AtWordEnd();
      }
      word.push_back(c);
    }
    return true;
  }

  // Both read the rest of a quoted part with its closing quote; false if the line ends before it.
  bool ReadDoubleQuoted(std::string& word) {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      if (c == '"') return true;
      if (c != '\\' || at_ == line_.size()) {
        word.push_back(c);
        continue;
      }
      const char escaped = line_[at_++];
      if (escaped == 'x' && at_ + 1 < line_.size() && IsHexDigit(line_[at_]) &&
          IsHexDigit(line_[at_ + 1])) {
        word += absl::HexStringToBytes({line_.data() + at_, 2});
        at_ += 2;
      } else {
        word.push_back(Unescape(escaped));
      }
    }
    return false;
  }

  bool ReadSingleQuoted(std::string& word) {
    while (at_ < line_.size()) {
      char c = line_[at_++];
      if (c == '\'') return true;
      if (c == '\\' && at_ < line_.size() && line_[at_] == '\'') c = line_[at_++];
      word.push_back(c);
    }
    return false;
  }

  bool AtWordEnd() const { return at_ == line_.size() || absl::ascii_isspace(line_[at_]); }

  std::string_view line_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> SplitArgs(std::string_view line) {
  return Splitter(line).Run();
}

}  // namespace tally::server
