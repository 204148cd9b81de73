// Lets the disk take the bytes of a growing file as they come. A sync of tens of megabytes at once
// would hold up who appends meanwhile: the kernel locks the pages that it gives to the disk, and
// among them is the last one, to which the next bytes belong. It is a hint: only a sync proves that
// anything is on disk.
#pragma once

#include <cstdint>
#include <memory>

#include "server/aof/background_worker.h"
#include "server/aof/file_system.h"

namespace tally::server {

class Writeback {
 public:
  explicit Writeback(FileSystem& files) : worker_(files.NewWorker()) {}
  Writeback(const Writeback&) = delete;
  Writeback& operator=(const Writeback&) = delete;

  // `file` ends at `end` now. Whole steps go to the disk, but not the last one, which may share
  // pages with what is appended next. A thread does it; it uses `file` until Stop.
  void Appended(File& file, uint64_t end);
  // Waits until the thread has left the file; another one may follow.
  void Stop();

 private:
  static constexpr uint64_t kStepBytes = uint64_t{1} << 20;

  uint64_t begun_ = 0;  // the disk has been asked to take the bytes before
  std::unique_ptr<BackgroundWorker> worker_;
};

}  // namespace tally::server
