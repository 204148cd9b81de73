#include "bench/quota_scale/awake_cpus.h"

#include <pthread.h>
#include <sched.h>

#include "bench/quota_scale/connection.h"

namespace tally::bench {

AwakeCpus::AwakeCpus() {
  const unsigned cpus = std::thread::hardware_concurrency();
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    threads_.emplace_back([this] {
      while (!stopping_.load(std::memory_order_relaxed)) {
      }
    });
    const sched_param lowest{};
    if (::pthread_setschedparam(threads_.back().native_handle(), SCHED_IDLE, &lowest) != 0) {
      Die("pthread_setschedparam");
    }
  }
}

AwakeCpus::~AwakeCpus() {
  stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace tally::bench
