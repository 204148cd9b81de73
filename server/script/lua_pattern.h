// Lua's patterns, matched as lstrlib.c of Lua 5.1 matches them (Copyright (C) 1994-2012 Lua.org,
// PUC-Rio; MIT), with two differences: the watch is asked on the way, for a short pattern can take
// for ever, and a pattern that would need a deep stack is refused.
#pragma once

#include <array>
#include <cstddef>
#include <lua.hpp>
#include <string_view>

#include "server/script/script_watch.h"

namespace tally::server {

// Raises Lua's errors for malformed patterns. Both texts must end with a NUL, as Lua's strings do,
// and stay where they are.
class PatternMatcher {
 public:
  PatternMatcher(lua_State* lua, std::string_view subject)
      : lua_(lua), begin_(subject.data()), end_(begin_ + subject.size()), steps_(lua) {}

  // The end of the match that begins at `at`, or null. Exponential in the number of quantifiers, in
  // the worst case.
  const char* Match(const char* at, const char* pattern);

  // After a match that began at `at` and ended at `end`.
  // Pushes all captures and returns their number; with `or_whole` the match itself if there is
  // none.
  int PushCaptures(const char* at, const char* end, bool or_whole);
  // Pushes capture `index`, from 0. Index 0 of a pattern without captures is the match itself.
  void PushCapture(int index, const char* at, const char* end);

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }

  // Matches inside one another: each quantifier and capture of the pattern is one.
  static constexpr int kMaxDepth = 220;

 private:
  static constexpr ptrdiff_t kUnfinished = -1;
  static constexpr ptrdiff_t kPosition = -2;

  struct Capture {
    const char* begin;
    ptrdiff_t size;  // or one of the above
  };

  const char* MatchHere(const char* at, const char* pattern);
  // What begins with '%' and is no single character; `handled` is false if it is one.
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
  int count_ = 0;  // of the captures
  std::array<Capture, LUA_MAXCAPTURES> captures_;
};

}  // namespace tally::server
