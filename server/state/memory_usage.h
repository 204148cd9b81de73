// How much memory the process uses, as the allocator and the kernel report it.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

namespace tally::server {

// Bytes.
struct AllocatorUsage {
  size_t allocated = 0;  // by us
  size_t active = 0;     // in pages that hold anything allocated
  size_t resident = 0;   // in pages that the allocator keeps mapped
};

// Takes some microseconds.
AllocatorUsage ReadAllocatorUsage();
// The process's resident set; 0 where the kernel does not say.
size_t ReadResidentBytes();
size_t SystemMemoryBytes();
std::string_view AllocatorName();
// Gives unused pages back to the system.
void PurgeAllocator();
// Has the allocator do so by itself from now on, on a thread of its own, over some seconds after
// pages have become unused. Without that it does so only while it is asked for memory: after a mass
// deletion on a quiet server all would stay. Of no effect with other allocators.
void PurgeInBackground();

// Follows the memory in use, for INFO and maxmemory.
class MemoryMeter {
 public:
  MemoryMeter() : startup_(Sample()) {}

  // Has the bytes in use come from something else than the allocator, for tests: a sanitizer's
  // keeps what has been freed.
  void set_source(std::function<size_t()> source) { source_ = std::move(source); }

  // Asks the allocator.
  size_t Sample();
  // In use now. With jemalloc this costs two loads: what the calling thread, the loop's, has
  // allocated and freed since the last sample is added to it, what other threads have is not.
  size_t Current();
  // As of the last sample.
  size_t used() const { return used_; }
  // Of all samples.
  size_t peak() const { return peak_; }
  size_t startup() const { return startup_; }

 private:
  std::function<size_t()> source_;
  size_t used_ = 0;
  size_t thread_used_ = 0;  // by the calling thread, at the last sample; modulo 2^64
  size_t peak_ = 0;
  size_t startup_;
};

}  // namespace tally::server
