// What the threads of a test do, so that a test waits for that instead of for some time.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

#include "core/bytes/str_cat.h"

namespace tally::test {

// Whether the thread of this process waits: for a lock, a semaphore or a disk. It may wait for a
// moment only, so a test must also hold if it looks at just that moment.
inline bool Waits(pid_t thread) {
  std::ifstream file(StrCat("/proc/self/task/", thread, "/stat"));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line.substr(name_end + 2, 1) == "S";
}

}  // namespace tally::test
