// Matches the patterns of Lua as lstrlib.c of Lua 5.1 does (Copyright (C) 1994-2012 Lua.org,
// PUC-Rio; MIT), with two differences: the matcher asks the watch from time to time, because a
// short pattern can take for ever, and a pattern that would need a deep stack is refused.
#pragma once

#include <array>
#include <cstddef>
#include <lua.hpp>
#include <string_view>

#include "server/script/script_watch.h"

namespace tally::server {

// Raises Lua's errors for malformed patterns. The subject and the pattern must end with a NUL, as
// Lua's strings do, and must not move.
class PatternMatcher {
 public:
  PatternMatcher(lua_State* lua, std::string_view subject)
      : lua_(lua), begin_(subject.data()), end_(begin_ + subject.size()), steps_(lua) {}

  // Returns the end of the match that begins at `at`, or null. In the worst case the time is
  // exponential in the number of quantifiers.
  const char* Match(const char* at, const char* pattern);

  // For a match that began at `at` and ended at `end`: pushes all captures and returns their
  // number. If there are none and `or_whole` is set, pushes the match itself.
  int PushCaptures(const char* at, const char* end, bool or_whole);
  // Pushes the capture `index`, counted from 0. In a pattern without captures, index 0 is the match
  // itself.
  void PushCapture(int index, const char* at, const char* end);

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }

  // The most nested matches. Each quantifier and each capture of the pattern nests one more.
  static constexpr int kMaxDepth = 220;

 private:
  static constexpr ptrdiff_t kUnfinished = -1;
  static constexpr ptrdiff_t kPosition = -2;

  struct Capture {
    const char* begin;
    ptrdiff_t size;  // or kUnfinished or kPosition
  };

  const char* MatchHere(const char* at, const char* pattern);
  // Matches an item that begins with '%' and is not a single character. If it is one, sets
  // `handled` to false.
  const char* MatchEscape(const char* at, const char*& pattern, bool& handled);
  const char* MatchBalance(const char* at, const char* pattern);
  const char* MatchFrontier(const char* at, const char*& pattern);
  const char* MatchCapture(const char* at, char digit);
  const char* MatchMost(const char* at, const char* pattern, const char* rest);
  const char* MatchLeast(const char* at, const char* pattern, const char* rest);
  const char* BeginCapture(const char* at, const char* pattern, ptrdiff_t size);
  const char* EndCapture(const char* at, const char* pattern);
  const char* ClassEnd(const char* pattern);
  bool IsOne(const char* at, const char* pattern, const char* class_end);
  int Checked(char digit);

  lua_State* lua_;
  const char* const begin_;
  const char* const end_;
  StepCounter steps_;
  int depth_ = 0;
  int count_ = 0;  // of captures
  std::array<Capture, LUA_MAXCAPTURES> captures_;
};

}  // namespace tally::server
