#include "server/memory/memory_usage.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include "core/bytes/str_cat.h"

#ifdef TALLY_JEMALLOC
#include <jemalloc/jemalloc.h>
#else
#include <malloc.h>
#endif

#ifdef TALLY_JEMALLOC
// jemalloc reads its options from this name at start. One arena is enough, because one thread has
// the data. More arenas would be a risk: a thread that starts when there is no more memory would
// need an arena of its own, and jemalloc then reads through a null pointer.
const char* malloc_conf = "narenas:1";
#endif

namespace tally::server {

#ifdef TALLY_JEMALLOC

namespace {

size_t ReadStatistic(const char* name) {
  size_t value = 0;
  size_t size = sizeof value;
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

// Returns a counter of jemalloc that only the calling thread changes; one that stays 0 if jemalloc
// has none.
const uint64_t* ThreadCounter(const char* name) {
  static constexpr uint64_t kZero = 0;
  uint64_t* counter = nullptr;
  size_t size = sizeof counter;
  return mallctl(name, static_cast<void*>(&counter), &size, nullptr, 0) == 0 ? counter : &kZero;
}

size_t AllocatedByThread() {
  thread_local const uint64_t* const allocated = ThreadCounter("thread.allocatedp");
  thread_local const uint64_t* const freed = ThreadCounter("thread.deallocatedp");
  return *allocated - *freed;
}

}  // namespace

AllocatorUsage ReadAllocatorUsage() {
  // jemalloc's statistics do not change until the epoch is advanced.
  uint64_t epoch = 1;
  size_t size = sizeof epoch;
  mallctl("epoch", &epoch, &size, &epoch, size);
  return {ReadStatistic("stats.allocated"), ReadStatistic("stats.active"),
          ReadStatistic("stats.resident")};
}

std::string_view AllocatorName() {
  // Leaves out the commit that follows the version.
  constexpr std::string_view kName = "jemalloc-" JEMALLOC_VERSION;
  return kName.substr(0, kName.find('-', kName.find('-') + 1));
}

// 4096 stands for all arenas (MALLCTL_ARENAS_ALL).
void PurgeAllocator() { mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0); }

void PurgeInBackground(std::chrono::milliseconds over) {
  ssize_t decay_ms = over.count();
  mallctl("arenas.dirty_decay_ms", nullptr, nullptr, &decay_ms, sizeof decay_ms);
  unsigned arenas = 0;
  size_t size = sizeof arenas;
  if (mallctl("arenas.narenas", &arenas, &size, nullptr, 0) != 0) return;
  for (unsigned i = 0; i < arenas; ++i) {
    const std::string name = StrCat("arena.", i, ".dirty_decay_ms");
    mallctl(name.c_str(), nullptr, nullptr, &decay_ms, sizeof decay_ms);
  }
  bool on = true;
  mallctl("background_thread", nullptr, nullptr, &on, sizeof on);
}

#else

AllocatorUsage ReadAllocatorUsage() {
  const struct mallinfo2 info = mallinfo2();
  const size_t mapped = info.arena + info.hblkhd;
  // A sanitizer's allocator reports nothing; the resident size is the nearest figure.
  if (mapped == 0) {
    const size_t resident = ReadResidentBytes();
    return {resident, resident, resident};
  }
  return {info.uordblks + info.hblkhd, mapped, mapped};
}

std::string_view AllocatorName() { return "libc"; }

void PurgeAllocator() { malloc_trim(0); }

void PurgeInBackground(std::chrono::milliseconds) {}

#endif

size_t ReadResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total_pages = 0;
  size_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

size_t SystemMemoryBytes() {
  return static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

size_t MemoryMeter::Sample() {
  used_ = source_ ? source_() : ReadAllocatorUsage().allocated;
#ifdef TALLY_JEMALLOC
  thread_used_ = AllocatedByThread();
#endif
  peak_ = std::max(peak_, used_);
  return used_;
}

size_t MemoryMeter::Current() {
#ifdef TALLY_JEMALLOC
  if (!source_) return used_ + (AllocatedByThread() - thread_used_);
#endif
  return Sample();
}

}  // namespace tally::server
