#include "server/aof/fsync_worker.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <semaphore>
#include <thread>

#include "fake_file_system.h"

namespace tally::server {
namespace {

using test::FakeFileSystem;

TEST_CASE("The worker syncs beside its owner and reports the result once") {
  FakeFileSystem files;
  std::counting_semaphore<> allowed(0);
  files.OnSync([&] { allowed.acquire(); });
  auto file = files.Create("/f");
  FsyncWorker worker;
  CHECK(!worker.busy());
  for (int round = 0; round < 3; ++round) {
    worker.Start([&] { return (*file)->Sync(); });
    CHECK(worker.busy());
    CHECK(!worker.Poll().has_value());
    allowed.release();
    CHECK(worker.Wait().status.ok());
    CHECK(!worker.busy());
  }
  files.FailAfter(0, FakeFileSystem::Fault::kIoError);
  worker.Start([&] { return (*file)->Sync(); });
  allowed.release();
  std::optional<FsyncWorker::Result> result;
  while (!(result = worker.Poll()).has_value()) std::this_thread::yield();
  CHECK(!result->status.ok());
}

TEST_CASE("A worker that goes away finishes its sync") {
  FakeFileSystem files;
  std::atomic<int> syncs = 0;
  files.OnSync([&] { ++syncs; });
  auto file = files.Create("/f");
  for (int i = 0; i < 20; ++i) {
    FsyncWorker worker;
    worker.Start([&] { return (*file)->Sync(); });
  }
  CHECK(syncs == 20);
}

}  // namespace
}  // namespace tally::server
