#include "server/aof/writeback.h"

#include <utility>

namespace tally::server {

void Writeback::Appended(File& file, uint64_t end) {
  if (end < begun_ + 2 * kStepBytes) return;
  // One at a time: while the disk is slow, what comes is for the next one.
  if (worker_->busy() && !worker_->Poll()) return;
  const uint64_t to = end / kStepBytes * kStepBytes - kStepBytes;
  const uint64_t from = std::exchange(begun_, to);
  worker_->Start([&file, from, to] {
    file.WriteBack(from, to);
    return absl::OkStatus();
  });
}

void Writeback::Stop() {
  while (worker_->busy()) worker_->Wait();
  begun_ = 0;
}

}  // namespace tally::server
