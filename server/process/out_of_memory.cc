#include "server/process/out_of_memory.h"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

namespace tally::server {
namespace {

constexpr char kReason[] =
    "Out of memory: the allocator has none to give, and the process ends. Set maxmemory below what "
    "the machine or the limit of the process (ulimit -v) has";

const Logger*& LogOfProcess() {
  static const Logger* log = nullptr;
  return log;
}

void End() {
  // Logging the message needs a little memory. If there is none, the message goes to stderr only.
  std::set_new_handler(nullptr);
  std::fputs(kReason, stderr);
  std::fputs("\n", stderr);
  try {
    LogOfProcess()->Warning(std::string_view(kReason));
  } catch (const std::bad_alloc&) {
  }
  std::abort();
}

}  // namespace

void EndWhenOutOfMemory(const Logger& log) {
  LogOfProcess() = &log;
  std::set_new_handler(End);
}

}  // namespace tally::server
