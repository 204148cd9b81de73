// Keeps every CPU from going idle while it lives, with threads that run when nothing else wants to
// (SCHED_IDLE): a virtual machine's host may take many milliseconds to wake an idle CPU, which a
// paced load would count as the server's.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace tally::bench {

class AwakeCpus {
 public:
  AwakeCpus();
  ~AwakeCpus();
  AwakeCpus(const AwakeCpus&) = delete;
  AwakeCpus& operator=(const AwakeCpus&) = delete;

 private:
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace tally::bench
