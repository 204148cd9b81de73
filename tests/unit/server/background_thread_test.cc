#include "server/aof/background_thread.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <semaphore>
#include <thread>

#include "fake_file_system.h"

namespace tally::server::background_thread_test {
namespace {

using test::FakeFileSystem;

TEST_CASE("The worker syncs beside its owner and reports the result once") {
  FakeFileSystem files;
  std::counting_semaphore<> allowed(0);
  files.OnSync([&] { allowed.acquire(); });
  auto file = files.Create("/f");
  BackgroundThread worker;
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
  std::optional<BackgroundThread::Result> result;
  while (!(result = worker.Poll()).has_value()) std::this_thread::yield();
  CHECK(!result->status.ok());
}

TEST_CASE("An operation begins at its time, by itself, and after the one before it") {
  using Clock = std::chrono::steady_clock;
  BackgroundThread worker;
  std::counting_semaphore<> allowed(0);
  std::counting_semaphore<> ended(0);
  Clock::time_point begun_at;
  const Clock::time_point start = Clock::now();
  worker.StartAfter(50, [&] {
    begun_at = Clock::now();
    ended.release();
    allowed.acquire();
    return absl::OkStatus();
  });
  ended.acquire();
  CHECK(begun_at - start >= std::chrono::milliseconds(50));
  CHECK(worker.begun());
  worker.StartAfter(0, [&] { return absl::UnknownError("the second"); });
  CHECK(!worker.begun());
  CHECK(worker.pending() == 2);
  CHECK(!worker.Poll().has_value());
  allowed.release();
  CHECK(worker.Wait().status.ok());
  CHECK(worker.Wait().status.message() == "the second");
  CHECK(worker.begun());
  CHECK(!worker.busy());
}

TEST_CASE(
    "An operation that waits for its time begins when its owner hurries, waits or goes away") {
  constexpr int64_t kAnHour = 3'600'000;
  int runs = 0;
  const auto run = [&] {
    ++runs;
    return absl::OkStatus();
  };
  {
    BackgroundThread worker;
    worker.StartAfter(kAnHour, run);
    CHECK(!worker.begun());
    worker.Hurry();
    CHECK(worker.begun());
    while (!worker.Poll().has_value()) std::this_thread::yield();
    worker.StartAfter(kAnHour, run);
    worker.StartAfter(kAnHour, run);
    CHECK(worker.Wait().status.ok());
    CHECK(worker.Wait().status.ok());
    CHECK(runs == 3);
    worker.StartAfter(kAnHour, run);
    worker.StartAfter(kAnHour, run);
  }
  CHECK(runs == 5);
}

TEST_CASE("A worker that goes away finishes its sync") {
  FakeFileSystem files;
  std::atomic<int> syncs = 0;
  files.OnSync([&] { ++syncs; });
  auto file = files.Create("/f");
  for (int i = 0; i < 20; ++i) {
    BackgroundThread worker;
    worker.Start([&] { return (*file)->Sync(); });
  }
  CHECK(syncs == 20);
}

}  // namespace
}  // namespace tally::server::background_thread_test
