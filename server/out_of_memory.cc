#include "server/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

namespace tally::server {
namespace {

constexpr std::string_view kReason =
    "Out of memory: the allocator has none to give, and the process ends. Set maxmemory below what "
    "the machine or the limit of the process (ulimit -v) has";

const Logger*& LogOfProcess() {
  static const Logger* log = nullptr;
  return log;
}

void End() {
  // The message takes a little memory; if there is none of that either, it goes to stderr only.
  std::set_new_handler(nullptr);
  const bool told = ::write(STDERR_FILENO, kReason.data(), kReason.size()) > 0 &&
                    ::write(STDERR_FILENO, "\n", 1) > 0;
  static_cast<void>(told);
  try {
    LogOfProcess()->Warning(kReason);
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
