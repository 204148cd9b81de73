#include "server/script/lua_pattern.h"

#include <cctype>
#include <cstring>

namespace tally::server {
namespace {

constexpr char kEscape = '%';

bool IsOfClass(int c, int letter) {
  bool is = false;
  switch (std::tolower(letter)) {
    case 'a':
      is = std::isalpha(c) != 0;
      break;
    case 'c':
      is = std::iscntrl(c) != 0;
      break;
    case 'd':
      is = std::isdigit(c) != 0;
      break;
    case 'l':
      is = std::islower(c) != 0;
      break;
    case 'p':
      is = std::ispunct(c) != 0;
      break;
    case 's':
      is = std::isspace(c) != 0;
      break;
    case 'u':
      is = std::isupper(c) != 0;
      break;
    case 'w':
      is = std::isalnum(c) != 0;
      break;
    case 'x':
      is = std::isxdigit(c) != 0;
      break;
    case 'z':
      is = c == 0;
      break;
    default:
      return letter == c;
  }
  return std::islower(letter) != 0 ? is : !is;
}

int Byte(const char* at) { return static_cast<unsigned char>(*at); }

// `set` points to the '[', `last` to the ']' that closes it.
bool IsOfSet(int c, const char* set, const char* last) {
  bool listed = true;
  if (set[1] == '^') {
    listed = false;
    ++set;
  }
  while (++set < last) {
    if (*set == kEscape) {
      ++set;
      if (IsOfClass(c, Byte(set))) return listed;
    } else if (set[1] == '-' && set + 2 < last) {
      set += 2;
      if (Byte(set - 2) <= c && c <= Byte(set)) return listed;
    } else if (Byte(set) == c) {
      return listed;
    }
  }
  return !listed;
}

}  // namespace

const char* PatternMatcher::Match(const char* at, const char* pattern) {
  count_ = 0;
  depth_ = 0;
  return MatchHere(at, pattern);
}

const char* PatternMatcher::ClassEnd(const char* pattern) {
  const char first = *pattern++;
  if (first == kEscape) {
    if (*pattern == '\0') luaL_error(lua_, "malformed pattern (ends with '%%')");
    return pattern + 1;
  }
  if (first != '[') return pattern;
  if (*pattern == '^') ++pattern;
  do {
    if (*pattern == '\0') luaL_error(lua_, "malformed pattern (missing ']')");
    const bool escapes = *pattern == kEscape;
    ++pattern;
    if (escapes && *pattern != '\0') ++pattern;
  } while (*pattern != ']');
  return pattern + 1;
}

bool PatternMatcher::IsOne(const char* at, const char* pattern, const char* class_end) {
  steps_.Step();
  if (at >= end_) return false;
  switch (*pattern) {
    case '.':
      return true;
    case kEscape:
      return IsOfClass(Byte(at), Byte(pattern + 1));
    case '[':
      return IsOfSet(Byte(at), pattern, class_end - 1);
    default:
      return *pattern == *at;
  }
}

const char* PatternMatcher::MatchHere(const char* at, const char* pattern) {
  if (++depth_ > kMaxDepth) luaL_error(lua_, "pattern too complex");
  for (;;) {
    const char* matched = nullptr;
    bool handled = true;
    switch (*pattern) {
      case '(':
        matched = pattern[1] == ')' ? BeginCapture(at, pattern + 2, kPosition)
                                    : BeginCapture(at, pattern + 1, kUnfinished);
        break;
      case ')':
        matched = EndCapture(at, pattern + 1);
        break;
      case '\0':
        matched = at;
        break;
      case kEscape:
        at = MatchEscape(at, pattern, handled);
        if (handled && at != nullptr) continue;
        break;
      case '$':
        handled = pattern[1] == '\0';
        if (handled && at == end_) matched = at;
        break;
      default:
        handled = false;
    }
    if (handled) {
      --depth_;
      return matched;
    }
    const char* const class_end = ClassEnd(pattern);
    const bool is_one = IsOne(at, pattern, class_end);
    switch (*class_end) {
      case '?':
        if (is_one) matched = MatchHere(at + 1, class_end + 1);
        if (matched == nullptr) {
          pattern = class_end + 1;
          continue;
        }
        break;
      case '*':
        matched = MatchMost(at, pattern, class_end);
        break;
      case '+':
        if (is_one) matched = MatchMost(at + 1, pattern, class_end);
        break;
      case '-':
        matched = MatchLeast(at, pattern, class_end);
        break;
      default:
        if (is_one) {
          ++at;
          pattern = class_end;
          continue;
        }
    }
    --depth_;
    return matched;
  }
}

const char* PatternMatcher::MatchEscape(const char* at, const char*& pattern, bool& handled) {
  const char kind = pattern[1];
  if (kind == 'b') {
    at = MatchBalance(at, pattern + 2);
    pattern += 4;
  } else if (kind == 'f') {
    at = MatchFrontier(at, pattern);
  } else if (std::isdigit(static_cast<unsigned char>(kind)) != 0) {
    at = MatchCapture(at, kind);
    pattern += 2;
  } else {
    handled = false;
  }
  return at;
}

const char* PatternMatcher::MatchBalance(const char* at, const char* pattern) {
  if (pattern[0] == '\0' || pattern[1] == '\0') luaL_error(lua_, "unbalanced pattern");
  if (*at != pattern[0]) return nullptr;
  const char open = pattern[0];
  const char close = pattern[1];
  ptrdiff_t depth = 1;
  while (++at < end_) {
    steps_.Step();
    if (*at == close) {
      if (--depth == 0) return at + 1;
    } else if (*at == open) {
      ++depth;
    }
  }
  return nullptr;
}

const char* PatternMatcher::MatchFrontier(const char* at, const char*& pattern) {
  const char* const set = pattern + 2;
  if (*set != '[') luaL_error(lua_, "missing '[' after '%%f' in pattern");
  const char* const set_end = ClassEnd(set);
  const int before = at == begin_ ? 0 : Byte(at - 1);
  const bool begins = !IsOfSet(before, set, set_end - 1) && IsOfSet(Byte(at), set, set_end - 1);
  pattern = set_end;
  return begins ? at : nullptr;
}

const char* PatternMatcher::MatchCapture(const char* at, char digit) {
  const Capture& capture = captures_[static_cast<size_t>(Checked(digit))];
  // For a position capture this is a huge number, so it never matches.
  const auto size = static_cast<size_t>(capture.size);
  if (static_cast<size_t>(end_ - at) < size || std::memcmp(capture.begin, at, size) != 0) {
    return nullptr;
  }
  return at + size;
}

int PatternMatcher::Checked(char digit) {
  const int index = digit - '1';
  if (index < 0 || index >= count_ || captures_[static_cast<size_t>(index)].size == kUnfinished) {
    return luaL_error(lua_, "invalid capture index");
  }
  return index;
}

const char* PatternMatcher::MatchMost(const char* at, const char* pattern, const char* rest) {
  ptrdiff_t most = 0;
  while (IsOne(at + most, pattern, rest)) ++most;
  for (; most >= 0; --most) {
    steps_.Step();
    const char* matched = MatchHere(at + most, rest + 1);
    if (matched != nullptr) return matched;
  }
  return nullptr;
}

const char* PatternMatcher::MatchLeast(const char* at, const char* pattern, const char* rest) {
  for (;;) {
    const char* matched = MatchHere(at, rest + 1);
    if (matched != nullptr) return matched;
    if (!IsOne(at, pattern, rest)) return nullptr;
    ++at;
  }
}

const char* PatternMatcher::BeginCapture(const char* at, const char* pattern, ptrdiff_t size) {
  if (count_ >= LUA_MAXCAPTURES) luaL_error(lua_, "too many captures");
  captures_[static_cast<size_t>(count_++)] = {at, size};
  const char* matched = MatchHere(at, pattern);
  if (matched == nullptr) --count_;
  return matched;
}

const char* PatternMatcher::EndCapture(const char* at, const char* pattern) {
  int index = count_ - 1;
  while (index >= 0 && captures_[static_cast<size_t>(index)].size != kUnfinished) --index;
  if (index < 0) luaL_error(lua_, "invalid pattern capture");
  Capture& capture = captures_[static_cast<size_t>(index)];
  capture.size = at - capture.begin;
  const char* matched = MatchHere(at, pattern);
  if (matched == nullptr) capture.size = kUnfinished;
  return matched;
}

void PatternMatcher::PushCapture(int index, const char* at, const char* end) {
  if (index >= count_) {
    if (index != 0) luaL_error(lua_, "invalid capture index");
    lua_pushlstring(lua_, at, static_cast<size_t>(end - at));
    return;
  }
  const Capture& capture = captures_[static_cast<size_t>(index)];
  if (capture.size == kUnfinished) luaL_error(lua_, "unfinished capture");
  if (capture.size == kPosition) {
    lua_pushinteger(lua_, capture.begin - begin_ + 1);
  } else {
    lua_pushlstring(lua_, capture.begin, static_cast<size_t>(capture.size));
  }
}

int PatternMatcher::PushCaptures(const char* at, const char* end, bool or_whole) {
  const int count = count_ == 0 && or_whole ? 1 : count_;
  luaL_checkstack(lua_, count, "too many captures");
  for (int i = 0; i < count; ++i) PushCapture(i, at, end);
  return count;
}

}  // namespace tally::server
