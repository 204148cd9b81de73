// How much memory the process uses, as the allocator and the kernel report it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

namespace tally::server {

// Bytes.
struct AllocatorUsage {
  size_t allocated = 0;  // by the process
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
// Over how long unused pages are given back. A short time costs page faults where memory is freed
// and allocated again soon. Data that grows while it is loaded frees what is not needed in that
// size again.
inline constexpr std::chrono::milliseconds kPurgeWhileLoading{500};
inline constexpr std::chrono::milliseconds kPurgeWhileServing{5000};
// Makes the allocator give unused pages back by itself from now on, on a thread of its own, half of
// them half of that time after they became unused. Without that it does so only when it is asked
// for memory, so after a mass deletion a quiet server would keep all of it. Has no effect with
// allocators other than jemalloc.
void PurgeInBackground(std::chrono::milliseconds over);

// Follows the memory in use, for INFO and maxmemory.
class MemoryMeter {
 public:
  MemoryMeter() : startup_(Sample()) {}

  // Replaces the allocator as the source of the bytes in use. For tests, because the allocator of a
  // sanitizer keeps what has been freed.
  void set_source(std::function<size_t()> source) { source_ = std::move(source); }

  // Asks the allocator for the bytes in use.
  size_t Sample();
  // The bytes in use now. With jemalloc this costs two loads: to the last sample it adds what the
  // calling thread, which is that of the loop, has allocated and freed since. Other threads count
  // only at the next sample.
  size_t Current();
  // The bytes in use at the last sample.
  size_t used() const { return used_; }
  // The highest of all samples.
  size_t peak() const { return peak_; }
  size_t startup() const { return startup_; }

 private:
  std::function<size_t()> source_;
  size_t used_ = 0;
  // Of the calling thread, at the last sample; modulo 2^64. Only jemalloc tells.
  [[maybe_unused]] size_t thread_used_ = 0;
  size_t peak_ = 0;
  size_t startup_;
};

}  // namespace tally::server
