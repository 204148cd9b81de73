// Crashes, power losses and disk faults at every single call that the append-only file makes, in a
// run of appends, syncs, rewrites and recoveries.
#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "aof_helpers.h"
#include "core/snapshot/record_emitter.h"
#include "fake_file_system.h"
#include "server/aof/base_writer.h"
#include "server/aof/log_writer.h"

namespace tally::server::aof_crash_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;
using Fault = FakeFileSystem::Fault;
using Loss = FakeFileSystem::Loss;

// The state of this server is a number: how many of the numbered commands it has executed.
class CountingServer {
 public:
  CountingServer(FakeFileSystem& files, FsyncPolicy policy) : files_(files), policy_(policy) {}

  bool Start() {
    auto directory = AofDirectory::Open(files_, test::kDirectory, test::kBaseName);
    if (!directory.ok()) return Refused(directory.status());
    directory_ = std::move(*directory);
    const auto loaded = test::Load(*directory_);
    if (!loaded.ok()) return Refused(loaded.status());
    executed_ = 0;
    if (!loaded->records.empty()) executed_ = std::stoull(loaded->records.at(0));
    for (const std::string& command : loaded->commands) {
      INFO(command << " follows " << executed_);
      REQUIRE(command == absl::StrCat("INCR key", executed_ + 1));
      ++executed_;
    }
    auto writer = LogWriter::Open(*directory_, loaded->end, loaded->synced, {.policy = policy_});
    if (!writer.ok()) return Refused(writer.status());
    writer_ = std::move(*writer);
    return true;
  }

  void Turn() {
    if (files_.crashed()) return;
    now_ms_ += 100;
    if (!writer_->error().ok() && !writer_->TryRecover(now_ms_).ok()) return;
    const uint64_t commands = 1 + executed_ % 3;
    for (uint64_t i = 0; i < commands; ++i) writer_->Append(test::Numbered(++executed_));
    if (writer_->Flush(now_ms_).ok()) Acknowledge();
    if (now_ms_ % 300 == 0) LetSyncEnd();
  }

  void Rewrite() {
    now_ms_ += 100;
    auto log = directory_->AddLog(writer_->sequence());
    if (!log.ok()) return;
    const uint64_t first_log = log->sequence;
    if (!writer_->Flush(now_ms_).ok()) return;
    if (!writer_->SwitchTo(std::move(*log), now_ms_).ok()) return;
    const std::string snapshot = absl::StrCat(executed_);
    Turn();
    auto base = directory_->CreateBase();
    if (!base.ok()) return;
    absl::Status status = WriteBase(std::move(base->file), base->sequence, first_log, snapshot);
    if (status.ok()) status = directory_->PublishBase(base->sequence, first_log);
    if (status.ok()) {
      directory_->RemoveObsolete().IgnoreError();
    } else {
      directory_->AbandonBase(base->sequence);
    }
  }

  bool healthy() const { return writer_->error().ok(); }
  const absl::Status& refusal() const { return refusal_; }
  uint64_t executed() const { return executed_; }
  // What the policy promises to be there after such a loss.
  uint64_t Promised(Loss loss) const {
    if (loss == Loss::kProcessOnly || policy_ == FsyncPolicy::kAlways) return acknowledged_;
    if (policy_ == FsyncPolicy::kNo) return 0;
    uint64_t promised = 0;
    for (const auto& [when, count] : history_) {
      if (when < now_ms_ - 1000) promised = count;
    }
    return promised;
  }

 private:
  bool Refused(const absl::Status& status) {
    refusal_ = status;
    return false;
  }
  void Acknowledge() {
    acknowledged_ = executed_;
    history_.emplace_back(now_ms_, acknowledged_);
  }
  void LetSyncEnd() {
    while (writer_->fsync_running() && writer_->Flush(now_ms_).ok()) std::this_thread::yield();
  }
  absl::Status WriteBase(std::unique_ptr<File> file, uint64_t sequence, uint64_t first_log,
                         const std::string& snapshot) {
    BaseWriter base(files_, std::move(file), {now_ms_, sequence, first_log}, {});
    absl::Status status = RecordEmitter(base).Append(snapshot);
    if (status.ok()) status = base.Finish();
    if (status.ok()) status = base.WaitSynced();
    return status;
  }

  FakeFileSystem& files_;
  FsyncPolicy policy_;
  std::unique_ptr<AofDirectory> directory_;
  std::unique_ptr<LogWriter> writer_;
  absl::Status refusal_;
  int64_t now_ms_ = 0;
  uint64_t executed_ = 0;
  uint64_t acknowledged_ = 0;
  std::vector<std::pair<int64_t, uint64_t>> history_;
};

// What was promised before a crash, for the start after it.
struct Expectation {
  uint64_t at_least = 0;
  uint64_t at_most = 0;
};

void Run(CountingServer& server) {
  for (int i = 0; i < 3; ++i) server.Turn();
  server.Rewrite();
  for (int i = 0; i < 8; ++i) server.Turn();
  server.Rewrite();
  server.Turn();
}

Expectation RunUntilEnd(FakeFileSystem& files, FsyncPolicy policy, Loss loss) {
  CountingServer server(files, policy);
  if (!server.Start()) return {};
  Run(server);
  return {server.Promised(loss), server.executed()};
}

// The next process finds what was promised, tidies up, and works.
void CheckRestart(FakeFileSystem& files, FsyncPolicy policy, const Expectation& expected) {
  {
    CountingServer server(files, policy);
    const bool started = server.Start();
    INFO(server.refusal().ToString());
    REQUIRE(started);
    CHECK(server.executed() >= expected.at_least);
    CHECK(server.executed() <= expected.at_most);
    Run(server);
    CHECK(server.healthy());
  }
  const auto directory = test::OpenDirectory(files);
  for (const auto& [path, content] : files.Contents()) {
    if (path == directory->ManifestPath()) continue;
    INFO(path);
    CHECK(directory->manifest().Lists(path.substr(path.rfind('/') + 1)));
  }
}

constexpr FsyncPolicy kPolicies[] = {FsyncPolicy::kAlways, FsyncPolicy::kEverysec,
                                     FsyncPolicy::kNo};

Loss RandomLoss(SeededRandom& random) {
  return std::array{Loss::kProcessOnly, Loss::kDrop, Loss::kTear, Loss::kReorder}[random.Below(4)];
}

// Crashes a run at each of its calls, and starts again.
void CrashEverywhere(SeededRandom& random) {
  for (const FsyncPolicy policy : kPolicies) {
    bool crashed = true;
    for (uint64_t call = 0; crashed; ++call) {
      const Loss loss = RandomLoss(random);
      INFO("seed " << random.seed() << " policy " << int(policy) << " loss " << int(loss)
                   << " call " << call);
      FakeFileSystem files;
      files.FailAfter(call, Fault::kCrash);
      const Expectation expected = RunUntilEnd(files, policy, loss);
      crashed = files.crashed();
      files.Restart(loss, random);
      CheckRestart(files, policy, expected);
    }
  }
}

// Crashes a run somewhere, and the start after it, too.
void CrashTwice(SeededRandom& random) {
  for (uint64_t call = 0; call < 40; ++call) {
    const Loss loss = RandomLoss(random);
    INFO("seed " << random.seed() << " loss " << int(loss) << " call " << call);
    FakeFileSystem files;
    files.FailAfter(30 + random.Below(60), Fault::kCrash);
    const Expectation first = RunUntilEnd(files, FsyncPolicy::kAlways, loss);
    files.Restart(loss, random);
    files.FailAfter(call, Fault::kCrash);
    const Expectation second = RunUntilEnd(files, FsyncPolicy::kAlways, loss);
    files.Restart(loss, random);
    CheckRestart(
        files, FsyncPolicy::kAlways,
        {std::max(first.at_least, second.at_least), std::max(first.at_most, second.at_most)});
  }
}

// Faults one to four calls at each place of a run, and takes the power away at its end.
void FaultEverywhere(SeededRandom& random) {
  constexpr Fault kFaults[] = {Fault::kIoError, Fault::kNoSpace, Fault::kShortWrite,
                               Fault::kTornWrite};
  for (const FsyncPolicy policy : kPolicies) {
    bool reached = true;
    for (uint64_t call = 0; reached; ++call) {
      const Loss loss = RandomLoss(random);
      const Fault fault = kFaults[random.Below(4)];
      INFO("seed " << random.seed() << " policy " << int(policy) << " fault " << int(fault)
                   << " loss " << int(loss) << " call " << call);
      FakeFileSystem files;
      files.FailAfter(call, fault, 1 + random.Below(4));
      const Expectation expected = RunUntilEnd(files, policy, loss);
      reached = files.calls() > call;
      files.Restart(loss, random);
      CheckRestart(files, policy, expected);
    }
  }
}

TEST_CASE("A crash at any call keeps what was acknowledged") {
  SeededRandom random;
  CrashEverywhere(random);
}

TEST_CASE("A crash during the start after a crash keeps what was acknowledged") {
  SeededRandom random;
  CrashTwice(random);
}

TEST_CASE("A fault at any call, and a power loss after it, keep what was acknowledged") {
  SeededRandom random;
  FaultEverywhere(random);
}

TEST_CASE("Crashes and faults, for a long time", "[.long]") {
  SeededRandom random;
  for (int round = 0; round < 50; ++round) {
    CrashEverywhere(random);
    CrashTwice(random);
    FaultEverywhere(random);
  }
}

}  // namespace
}  // namespace tally::server::aof_crash_test
