// Assertions for programmer errors, kept in release builds: a broken invariant must stop the
// process before it can write a wrong count to the log.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace tally {

[[noreturn, gnu::cold, gnu::noinline]] inline void FailCheck(const char* what,
                                                             const std::source_location& where) {
  std::fprintf(stderr, "%s:%u: check failed: %s\n", where.file_name(), where.line(), what);
  std::abort();
}

inline void Check(bool condition, const char* what,
                  std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    FailCheck(what, where);
}

}  // namespace tally
