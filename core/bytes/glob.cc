#include "core/bytes/glob.h"

#include <algorithm>

namespace tally {
namespace {

unsigned char Fold(char c, GlobCase fold) {
  const auto byte = static_cast<unsigned char>(c);
  const bool upper = byte >= 'A' && byte <= 'Z';
  return static_cast<unsigned char>(fold == GlobCase::kInsensitive && upper ? byte | 0x20 : byte);
}

// The outcome of matching one pattern element, which starts at some position, against one byte.
struct Element {
  bool matches;
  size_t end;  // where the next element starts
};

// `start` is the position after the opening bracket.
Element MatchClass(std::string_view pattern, size_t start, char c, GlobCase fold) {
  const unsigned char byte = Fold(c, fold);
  size_t at = start;
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool matches = false;
  while (at < pattern.size() && pattern[at] != ']') {
    const size_t left = pattern.size() - at;
    if (pattern[at] == '\\' && left >= 2) {
      matches |= Fold(pattern[at + 1], fold) == byte;
      at += 2;
    } else if (left >= 3 && pattern[at + 1] == '-') {
      const auto [low, high] = std::minmax({Fold(pattern[at], fold), Fold(pattern[at + 2], fold)});
      matches |= low <= byte && byte <= high;
      at += 3;
    } else {
      matches |= Fold(pattern[at], fold) == byte;
      ++at;
    }
  }
  return {matches != negated, std::min(at + 1, pattern.size())};
}

// `at` is inside the pattern, and not at a `*`.
Element MatchOne(std::string_view pattern, size_t at, char c, GlobCase fold) {
  switch (pattern[at]) {
    case '?':
      return {true, at + 1};
    case '[':
      return MatchClass(pattern, at + 1, c, fold);
    case '\\':
      if (at + 1 < pattern.size()) ++at;
      break;
    default:
      break;
  }
  return {Fold(pattern[at], fold) == Fold(c, fold), at + 1};
}

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view text, GlobCase fold) {
  if (text.empty()) return pattern.empty();
  size_t in_pattern = 0;
  size_t in_text = 0;
  size_t after_star = std::string_view::npos;  // the pattern's position after the last `*` seen
  size_t star_text = 0;                        // the text's position where that `*` stops for now
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      after_star = ++in_pattern;
      star_text = in_text;
      continue;
    }
    if (in_pattern < pattern.size()) {
      const Element element = MatchOne(pattern, in_pattern, text[in_text], fold);
      if (element.matches) {
        in_pattern = element.end;
        ++in_text;
        continue;
      }
    }
    if (after_star == std::string_view::npos) return false;
    in_pattern = after_star;
    in_text = ++star_text;
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.size();
}

}  // namespace tally
