#include "server/aof/log_writer.h"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <semaphore>
#include <thread>

#include "aof_helpers.h"
#include "fake_file_system.h"
#include "thread_state.h"

namespace tally::server::log_writer_test {
namespace {

using test::FakeFileSystem;
using test::Numbered;
using test::OpenDirectory;
using test::SeededRandom;
using Fault = FakeFileSystem::Fault;
using Loss = FakeFileSystem::Loss;

struct Log {
  explicit Log(FakeFileSystem& files, LogWriter::Options options)
      : directory(OpenDirectory(files)) {
    const auto loaded = test::Load(*directory);
    auto opened = LogWriter::Open(*directory, loaded->end, loaded->synced, options);
    REQUIRE(opened.ok());
    writer = std::move(*opened);
  }
  Log(FakeFileSystem& files, FsyncPolicy policy)
      : Log(files, LogWriter::Options{.policy = policy}) {}

  absl::Status Write(uint64_t number, int64_t now_ms) {
    writer->Append(Numbered(number));
    return writer->Flush(now_ms);
  }

  std::unique_ptr<AofDirectory> directory;
  std::unique_ptr<LogWriter> writer;
};

std::vector<std::string> CommandsAfter(FakeFileSystem& files, Loss loss) {
  SeededRandom random;
  files.Restart(loss, random);
  const auto loaded = test::Load(*OpenDirectory(files));
  INFO(loaded.status().ToString());
  REQUIRE(loaded.ok());
  return loaded->commands;
}

std::vector<std::string> Increments(int count) {
  std::vector<std::string> commands;
  for (int i = 1; i <= count; ++i) commands.push_back(absl::StrCat("INCR key", i));
  return commands;
}

TEST_CASE("One write and, with always, one sync a turn") {
  for (const FsyncPolicy policy : {FsyncPolicy::kAlways, FsyncPolicy::kNo}) {
    FakeFileSystem files;
    Log log(files, policy);
    const uint64_t before = files.calls();
    log.writer->Append(Numbered(1));
    log.writer->buffer() += Numbered(2);
    CHECK(log.writer->pending_bytes() == Numbered(1).size() * 2);
    CHECK(log.writer->Flush(1000).ok());
    CHECK(files.calls() - before == (policy == FsyncPolicy::kAlways ? 2 : 1));
    CHECK(log.writer->pending_bytes() == 0);
    CHECK(log.writer->Flush(1100).ok());
    CHECK(files.calls() - before == (policy == FsyncPolicy::kAlways ? 2 : 1));
    CHECK(log.writer->stats().batches == 1);
    CHECK(log.writer->current_size() ==
          kLogHeaderBytes + 2 * Numbered(1).size() + kAnnotationBytes);
    const bool lasting = policy == FsyncPolicy::kAlways;
    CHECK(CommandsAfter(files, Loss::kDrop) == Increments(lasting ? 2 : 0));
  }
}

TEST_CASE("A log is continued where the last process ended, without its torn tail") {
  FakeFileSystem files;
  for (uint64_t i = 1; i <= 3; ++i) {
    {
      Log log(files, FsyncPolicy::kAlways);
      CHECK(log.Write(i, 1000).ok());
    }
    auto contents = files.Contents();
    for (const auto& [path, content] : contents) {
      if (path.ends_with(".incr.aof")) files.Put(path, content + "*2\r\n$4\r\nIN");
    }
  }
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(3));
}

TEST_CASE("everysec syncs in a thread half a second after a write") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kEverysec);
  CHECK(log.Write(1, 1000).ok());
  CHECK(log.writer->Flush(1499).ok());
  CHECK(!log.writer->fsync_running());
  CHECK(log.writer->Flush(1500).ok());
  CHECK(log.writer->fsync_running());
  while (log.writer->fsync_running()) CHECK(log.writer->Flush(1600).ok());
  CHECK(log.writer->pending_bytes() == 0);
  CHECK(log.writer->stats().last_fsync_ms == 1600);
  CHECK(log.writer->stats().delayed_fsyncs == 0);
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(1));
}

TEST_CASE("everysec syncs in time while the loop does not come back") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kEverysec);
  std::counting_semaphore<> begun(0);
  std::counting_semaphore<> disk(0);
  files.OnSync([&] {
    begun.release();
    disk.acquire();
  });
  CHECK(log.Write(1, 1000).ok());
  // The loop runs a long script from here on.
  CHECK(begun.try_acquire_for(std::chrono::seconds(30)));
  // It comes back for one write while the sync is running, and is gone again.
  CHECK(log.Write(2, 1600).ok());
  CHECK(log.writer->pending_bytes() == Numbered(1).size() + Numbered(2).size());
  disk.release();
  CHECK(begun.try_acquire_for(std::chrono::seconds(30)));
  disk.release();
  // All is on disk, or just about to be, so the next write waits for nothing.
  while (log.writer->pending_bytes() > 0) CHECK(log.writer->Flush(9000).ok());
  CHECK(log.Write(3, 9000).ok());
  CHECK(log.writer->stats().delayed_fsyncs == 0);
  disk.release(10);
  CHECK(log.writer->Close(9000).ok());
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(3));
}

TEST_CASE("everysec believes no sync after one that failed") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kEverysec);
  std::counting_semaphore<> begun(0);
  std::counting_semaphore<> disk(0);
  files.OnSync([&] {
    begun.release();
    disk.acquire();
  });
  CHECK(log.Write(1, 1000).ok());
  CHECK(begun.try_acquire_for(std::chrono::seconds(30)));
  CHECK(log.Write(2, 1600).ok());
  // The first fails, and the kernel then reports success for the same pages.
  files.FailAfter(0, Fault::kIoError);
  disk.release();
  CHECK(begun.try_acquire_for(std::chrono::seconds(30)));
  disk.release(10);
  while (log.writer->fsync_running()) log.writer->Flush(2200).IgnoreError();
  CHECK(!log.writer->error().ok());
  CHECK(log.writer->pending_bytes() == Numbered(1).size() + Numbered(2).size());
  while (!log.writer->TryRecover(2300).ok()) {
  }
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(2));
}

TEST_CASE("everysec waits rather than have more than a second unsynced") {
  // Before the log, whose worker may sync until it ends.
  std::binary_semaphore disk(0);
  std::atomic<bool> slow = true;
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kEverysec);
  files.OnSync([&] {
    if (slow) disk.acquire();
  });
  uint64_t number = 0;
  // The sync that begins at 1500 hangs; until 1999 writes go on.
  for (int64_t now = 1000; now < 2000; now += 100) CHECK(log.Write(++number, now).ok());
  CHECK(log.writer->fsync_running());
  CHECK(log.writer->stats().delayed_fsyncs == 0);
  std::atomic<bool> acknowledged = false;
  std::atomic<pid_t> thread = 0;
  std::thread loop([&] {
    thread = ::gettid();
    acknowledged = log.Write(++number, 2000).ok();
  });
  while (!acknowledged && (thread == 0 || !test::Waits(thread))) std::this_thread::yield();
  CHECK(!acknowledged);
  slow = false;
  disk.release();
  loop.join();
  CHECK(acknowledged);
  CHECK(log.writer->stats().delayed_fsyncs == 1);
  // The first sync covered what was written up to its start.
  const auto commands = CommandsAfter(files, Loss::kDrop);
  CHECK(commands.size() >= 5);
}

TEST_CASE("everysec keeps a bounded number of bytes in memory") {
  FakeFileSystem files;
  Log log(files, {.policy = FsyncPolicy::kEverysec, .max_unsynced_bytes = 1000});
  for (uint64_t i = 1; i <= 500; ++i) {
    CHECK(log.Write(i, 1000).ok());
    CHECK(log.writer->pending_bytes() <= 1000 + Numbered(i).size());
  }
  CHECK(log.writer->Close(1000).ok());
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(500));
}

TEST_CASE("A failed write stops acknowledging, and is made up for when there is space") {
  for (const Fault fault : {Fault::kNoSpace, Fault::kTornWrite, Fault::kIoError}) {
    for (const FsyncPolicy policy :
         {FsyncPolicy::kAlways, FsyncPolicy::kEverysec, FsyncPolicy::kNo}) {
      FakeFileSystem files;
      Log log(files, policy);
      CHECK(log.Write(1, 1000).ok());
      files.FailAfter(0, fault);
      CHECK(!log.Write(2, 1100).ok());
      CHECK(!log.writer->error().ok());
      CHECK(!log.writer->Flush(1200).ok());
      CHECK(log.writer->TryRecover(1300).ok());
      CHECK(log.writer->error().ok());
      CHECK(log.Write(3, 1400).ok());
      CHECK(CommandsAfter(files, Loss::kProcessOnly) == Increments(3));
    }
  }
}

TEST_CASE("A short write is finished") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kAlways);
  files.FailAfter(0, Fault::kShortWrite, 3);
  CHECK(log.Write(1, 1000).ok());
  files.StopFaults();
  CHECK(log.Write(2, 1100).ok());
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(2));
}

TEST_CASE("After a failed sync the bytes are written again, into a new log") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kAlways);
  CHECK(log.Write(1, 1000).ok());
  files.FailAfter(1, Fault::kIoError);
  CHECK(!log.Write(2, 1100).ok());
  CHECK(log.writer->sequence() == 1);
  // Recovery fails as long as the disk does, at whichever call.
  for (uint64_t call = 0; call < 6; ++call) {
    files.FailAfter(call, Fault::kIoError, 100);
    CHECK(!log.writer->TryRecover(1200).ok());
    CHECK(!log.writer->error().ok());
  }
  files.StopFaults();
  CHECK(log.writer->TryRecover(1300).ok());
  CHECK(log.writer->sequence() > 1);
  CHECK(log.Write(3, 1400).ok());
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(3));
}

TEST_CASE("A turn that is too large for a batch is split between its commands") {
  const std::string path = std::string(test::kDirectory) + "/appendonly.aof.1.incr.aof";
  for (const Fault fault : {Fault::kNone, Fault::kTornWrite}) {
    FakeFileSystem files;
    const size_t size = Numbered(1).size();
    Log log(files,
            LogWriter::Options{.policy = FsyncPolicy::kAlways, .max_batch_bytes = 2 * size + 1});
    for (uint64_t i = 1; i <= 4; ++i) log.writer->Append(Numbered(i));
    files.FailAfter(2, fault);  // the second batch
    CHECK(log.Write(5, 1000).ok() == (fault == Fault::kNone));
    files.StopFaults();
    if (fault != Fault::kNone) {
      CHECK(files.Contents()[path].size() == kLogHeaderBytes);
      CHECK(log.writer->TryRecover(1100).ok());
    }
    CHECK(log.Write(6, 1200).ok());
    // Two, two, one; and the one after them.
    CHECK(files.Contents()[path].size() == kLogHeaderBytes + 6 * size + 4 * kAnnotationBytes);
    CHECK(CommandsAfter(files, Loss::kDrop) == Increments(6));
  }
}

TEST_CASE("What is written again after a failed sync is split too") {
  FakeFileSystem files;
  const uint64_t one = Numbered(1).size();
  Log log(files, LogWriter::Options{.policy = FsyncPolicy::kAlways, .max_batch_bytes = one});
  files.FailAfter(6, Fault::kIoError);  // the sync after three batches, each of two writes
  for (uint64_t i = 1; i <= 2; ++i) log.writer->Append(Numbered(i));
  CHECK_FALSE(log.Write(3, 1000).ok());
  CHECK(log.writer->TryRecover(1100).ok());
  CHECK(log.writer->sequence() == 2);
  CHECK(log.writer->current_size() == kLogHeaderBytes + 3 * (one + kAnnotationBytes));
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(3));
}

TEST_CASE("The sync that ends a recovery is the last one that was timed") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kAlways);
  files.FailAfter(1, Fault::kIoError);
  CHECK(!log.Write(1, 1000).ok());
  files.OnSync([] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); });
  CHECK(log.writer->TryRecover(1100).ok());
  CHECK(log.writer->stats().last_fsync_ms == 1100);
  CHECK(log.writer->stats().last_fsync_took_us >= 3000);
  files.OnSync(nullptr);
}

TEST_CASE("everysec keeps what a failed sync in the thread has lost") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kEverysec);
  for (uint64_t i = 1; i <= 3; ++i) CHECK(log.Write(i, 1000).ok());
  files.FailAfter(0, Fault::kIoError);
  CHECK(log.writer->Flush(1500).ok());
  while (log.writer->fsync_running()) log.writer->Flush(1600).IgnoreError();
  CHECK(!log.writer->error().ok());
  CHECK(!log.Write(4, 1700).ok());
  CHECK(log.writer->TryRecover(1800).ok());
  CHECK(log.writer->pending_bytes() == 0);
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(4));
}

TEST_CASE("With appendfsync no, what a failed sync has lost is told to be lost") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kNo);
  CHECK(log.Write(1, 1000).ok());
  files.FailAfter(0, Fault::kIoError);
  CHECK(!log.writer->SetPolicy(FsyncPolicy::kAlways, 1100).ok());
  CHECK(log.writer->policy() == FsyncPolicy::kNo);
  CHECK(absl::IsDataLoss(log.writer->TryRecover(1200)));
  CHECK(!log.Write(2, 1300).ok());
}

TEST_CASE("With appendfsync no, the thread syncs what is much before a log is switched or marked") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kNo);
  const auto loop = std::this_thread::get_id();
  std::atomic<int> of_loop = 0;
  std::atomic<int> of_thread = 0;
  std::counting_semaphore<> allowed(0);
  files.OnSync([&] {
    if (std::this_thread::get_id() == loop) {
      ++of_loop;
    } else {
      ++of_thread;
      allowed.acquire();
    }
  });
  const std::string large = absl::StrCat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n",
                                         std::string(1'000'000, 'v'), "\r\n");
  int syncs = 0;
  CHECK(log.writer->SyncAhead(1000, syncs));  // there is little to sync
  log.writer->Append(large);
  CHECK(log.writer->Flush(1000).ok());
  for (int turn = 0; turn < 100; ++turn) {
    CHECK_FALSE(log.writer->SyncAhead(1000, syncs));
    CHECK(log.Write(1 + turn, 1000).ok());  // the loop goes on
  }
  CHECK(syncs == 1);
  CHECK(of_loop == 0);
  allowed.release(1000);
  while (!log.writer->SyncAhead(1000, syncs)) std::this_thread::yield();
  CHECK(syncs == 1);
  CHECK(of_thread == 1);
  CHECK(log.writer->Mark(1000).ok());
  const auto commands = CommandsAfter(files, Loss::kDrop);
  CHECK(commands.size() == 101);
}

TEST_CASE("With appendfsync no, syncs before a rewrite end though more is written all the time") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kNo);
  int syncs = 0;
  uint64_t number = 0;
  do {
    for (int i = 0; i < 5000; ++i) log.writer->Append(Numbered(++number));
    CHECK(log.writer->Flush(1000).ok());
  } while (!log.writer->SyncAhead(1000, syncs));
  CHECK(syncs < 20);
}

TEST_CASE("With appendfsync no, a failed sync before a rewrite is told to have lost the log") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kNo);
  for (int i = 1; i <= 5000; ++i) log.writer->Append(Numbered(static_cast<uint64_t>(i)));
  CHECK(log.writer->Flush(1000).ok());
  files.FailAfter(0, Fault::kIoError);
  int syncs = 0;
  while (!log.writer->SyncAhead(1000, syncs)) std::this_thread::yield();
  CHECK_FALSE(log.writer->error().ok());
  CHECK(log.writer->lost());
  CHECK(absl::IsDataLoss(log.writer->TryRecover(1200)));
}

TEST_CASE(
    "With appendfsync no, a sync that fails after a failed write is told to have lost the log") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kNo);
  const auto loop = std::this_thread::get_id();
  std::counting_semaphore<> allowed(0);
  files.OnSync([&] {
    if (std::this_thread::get_id() != loop) allowed.acquire();
  });
  log.writer->Append(absl::StrCat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n",
                                  std::string(1'000'000, 'v'), "\r\n"));
  CHECK(log.writer->Flush(1000).ok());
  int syncs = 0;
  CHECK_FALSE(log.writer->SyncAhead(1000, syncs));
  // The write, the truncation after it, and then the sync.
  files.FailAfter(0, Fault::kTornWrite, 3);
  CHECK_FALSE(log.Write(1, 1100).ok());
  allowed.release();
  while (!log.writer->lost() && !log.writer->error().ok()) {
    log.writer->TryRecover(1200).IgnoreError();
  }
  CHECK(log.writer->lost());
}

TEST_CASE("A stricter policy begins with everything on disk") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kNo);
  CHECK(log.Write(1, 1000).ok());
  CHECK(log.writer->SetPolicy(FsyncPolicy::kEverysec, 1100).ok());
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(1));
}

TEST_CASE("A log that was added before a recovery is not switched to after it") {
  FakeFileSystem files;
  Log log(files, FsyncPolicy::kAlways);
  CHECK(log.Write(1, 1000).ok());
  auto added = log.directory->AddLog(log.writer->sequence());
  REQUIRE(added.ok());
  files.FailAfter(1, Fault::kIoError);
  CHECK(!log.Write(2, 1100).ok());
  CHECK(log.writer->TryRecover(1200).ok());
  CHECK(absl::IsAborted(log.writer->SwitchTo(std::move(*added), 1300)));
  CHECK(log.Write(3, 1400).ok());
  CHECK(CommandsAfter(files, Loss::kDrop) == Increments(3));
}

}  // namespace
}  // namespace tally::server::log_writer_test
