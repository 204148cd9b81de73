// A server on files in memory, with dice for everything that chance brings: commands, huge values
// and keys, time, slow disks, full disks, faults, crashes, power losses, restarts, reloads and
// rewrites. Beside it a naive model of the data, a server that follows its effects, and the promise
// of appendfsync. One seed gives the same run again.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "durable_server.h"
#include "effect_follower.h"
#include "random_commands.h"
#include "random_natives.h"
#include "random_seed.h"
#include "reference_keyspace.h"
#include "server/durability/rdb_export.h"
#include "simulation_counts.h"

namespace tally::server {

class Simulation {
 public:
  // How the clock is set: by minutes, or for some turns also by up to 400 days.
  enum class Clocks { kUsual, kFarAhead };

  // No value has more than `largest` bytes, and no key more than a quarter of that.
  Simulation(test::SeededRandom& random, FsyncPolicy policy, size_t largest = size_t{1} << 20,
             Clocks clocks = Clocks::kUsual);

  // Some commands, and what the loop does after them. It may end in a crash and a restart.
  void Turn() { Turn(Load::kUsual); }
  // The same, and large values are written, most often while a rewrite runs.
  void LargeTurn() { Turn(Load::kLarge); }

  const SimulationCounts& counts() const { return counts_; }
  uint64_t file_calls() const { return files_.calls(); }

 private:
  using Loss = test::FakeFileSystem::Loss;
  using Words = ReferenceKeyspace::Words;

  enum class Load { kUsual, kLarge };
  static constexpr size_t kDatabases = 3;
  static constexpr size_t kMarkers = 2;  // the database of the key that counts the turns
  static constexpr int64_t kNotAcknowledged = -1;

  struct Change {
    size_t database;
    Words words;  // of a command, or the key that has expired
    int64_t now_ms;
    int64_t lag_ms = 0;  // Clock::deletion_lag_ms()
    enum Kind { kCommand, kExpiry, kSetBack } kind = kCommand;
  };
  // A turn that wrote: what it changed, and when that was acknowledged.
  struct WrittenTurn {
    std::vector<Change> changes;
    int64_t acknowledged_ms = kNotAcknowledged;
  };

  void Turn(Load load);
  // The begin of a text that may be huge, and hold any bytes.
  static std::string Shown(const std::string& text);
  // Runs a command here and there, and compares the replies. False if it was refused.
  bool Same(size_t database, const Words& words);
  // The same with one that only reads; the follower has to answer that too.
  void SameOfAll(size_t database, const Words& words);
  // The same with a command that writes.
  bool Write(size_t database, const Words& words);
  void NoteExpired(size_t database, const std::string& key);
  // After a jump of the clock: sets back what lies after it. Returns whether there was anything.
  bool SetBack();
  // kSome leaves out what is large: to compare it takes longer than all else.
  enum class Extent { kAll, kSome };
  void Compare(Extent extent);
  void CompareKeys(size_t database, const std::string& suffix, Extent extent);
  void PassTime();
  void Jump(int64_t ms);
  void JumpFar();
  void SetClocks();
  void EndTurn(bool wrote);

  bool WriteLargeHash(size_t database);
  bool WriteInNeed(size_t database);
  void StartRewrite();
  void CountRewrites();
  void FillOrFreeDisk();
  void FillDisk();

  Loss RandomLoss();
  void Stop();
  void Restart();
  // Leaves all data as an RDB, as --export writes it, and nothing else.
  void MoveToRdb();
  // Starts a process, though it may take several attempts.
  void Boot();
  Config StartConfig() const;
  // Looks at what the new process has found.
  void Recover();
  // How many of the written turns must have survived.
  uint64_t PromisedTurns() const;

  test::SeededRandom& random_;
  FsyncPolicy policy_;
  Clocks clocks_;
  test::RandomCommands draw_;
  test::RandomNatives draw_natives_;
  test::FakeFileSystem files_;
  std::unique_ptr<DurableServer> server_;
  std::unique_ptr<EffectFollower> follower_;  // of server_; null in half of its lives
  std::array<Client*, kDatabases> clients_{};

  ReferenceKeyspace model_;
  ReferenceKeyspace recovered_;  // what the last start found
  uint64_t recovered_turns_ = 0;
  std::vector<WrittenTurn> turns_;  // since then
  WrittenTurn current_;
  size_t synced_turns_ = 0;  // of turns_, by a clean stop
  bool power_lost_ = false;

  int64_t steady_us_ = 1'000'000'000;
  int64_t wall_ms_ = 1'700'000'000'000;
  int64_t latest_wall_ms_ = wall_ms_;
  int64_t ahead_ms_ = 0;
  bool jumped_ = false;  // the clock, since SetBack()
  SimulationCounts counts_;
  bool rewriting_ = false;
  bool disk_is_full_ = false;
};

inline Simulation::Simulation(test::SeededRandom& random, FsyncPolicy policy, size_t largest,
                              Clocks clocks)
    : random_(random),
      policy_(policy),
      clocks_(clocks),
      draw_(random, largest),
      draw_natives_(random, draw_.long_name()),
      model_(kDatabases, largest),
      recovered_(kDatabases, largest) {
  files_.UseDicedWorkers(random, [this](int64_t us) {
    steady_us_ += us;
    wall_ms_ += us / 1000;
    if (server_ != nullptr) server_->harness().state.clock.SetSteady(steady_us_ / 1000);
  });
  Boot();
}

inline void Simulation::Turn(Load load) {
  const bool is_large = load == Load::kLarge;
  PassTime();
  // The server has looked at all keys after some turns.
  bool wrote = jumped_ && random_.OneIn(3) && SetBack();
  for (uint64_t count = 1 + random_.Below(8); count > 0; --count) {
    const size_t database = random_.Below(kMarkers);
    wrote |=
        Write(database, random_.OneIn(3) ? draw_natives_.Write(wall_ms_) : draw_.Write(wall_ms_));
  }
  if (random_.OneIn(is_large ? 4 : 5000)) wrote |= WriteLargeHash(random_.Below(kMarkers));
  if (is_large || random_.OneIn(2000)) wrote |= WriteInNeed(random_.Below(kMarkers));
  if (wrote) {
    REQUIRE(Write(kMarkers, {"INCRBY", "turns", "1"}));
    turns_.push_back(std::exchange(current_, {}));
  }
  if (random_.OneIn(50)) Compare(random_.OneIn(20) ? Extent::kAll : Extent::kSome);
  if (random_.OneIn(100)) StartRewrite();
  FillOrFreeDisk();
  EndTurn(wrote);
  if (random_.OneIn(3000)) {
    // It fails where the disk does, and then nothing may be gone.
    REQUIRE_FALSE(absl::IsDataLoss(server_->persistence().Reload()));
    SetClocks();  // it has waited for the disk
    Compare(Extent::kAll);
  }
  CountRewrites();
  if (files_.crashed() || random_.OneIn(700)) {
    ++counts_.crashes;
    Restart();
  } else if (random_.OneIn(700)) {
    Stop();
    Restart();
  }
}

inline void Simulation::EndTurn(bool wrote) {
  const bool acknowledged =
      server_->persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok();
  if (wrote && acknowledged) turns_.back().acknowledged_ms = steady_us_ / 1000;
  counts_.refused_turns += !acknowledged;
  if (server_->persistence().write_error().ok()) server_->harness().ExpireDue();
  if (random_.OneIn(2)) server_->persistence().Cron();
}

inline std::string Simulation::Shown(const std::string& text) {
  constexpr size_t kShown = 2000;
  std::string shown = text.substr(0, kShown);
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' '; }, '.');
  return absl::StrCat(shown, " (", text.size(), " bytes)");
}

inline bool Simulation::Same(size_t database, const Words& words) {
  const std::string reply = server_->harness().Run(*clients_[database], words);
  if (reply.starts_with("-MISCONF")) {
    REQUIRE_FALSE(server_->persistence().write_error().ok());
    ++counts_.refused_commands;
    return false;
  }
  ++counts_.commands;
  const std::string expected = model_.Run(database, words, wall_ms_);
  if (reply != expected) {
    FAIL("database " << database << ": " << Shown(absl::StrJoin(words, " ")) << " replied "
                     << Shown(reply) << ", expected was " << Shown(expected));
  }
  return true;
}

inline void Simulation::SameOfAll(size_t database, const Words& words) {
  Same(database, words);
  if (follower_ == nullptr) return;
  // The model's answer, which Same has compared already, without counting it twice.
  const std::string expected = model_.Run(database, words, wall_ms_);
  const std::string reply = follower_->Run(database, words);
  if (reply != expected) {
    FAIL("the follower, database " << database << ": " << Shown(absl::StrJoin(words, " "))
                                   << " replied " << Shown(reply) << ", expected was "
                                   << Shown(expected));
  }
}

inline bool Simulation::Write(size_t database, const Words& words) {
  if (!Same(database, words)) return false;
  for (const std::string& word : words) {
    counts_.large_values += word.size() > 1'000'000;
    counts_.largest_value = std::max(counts_.largest_value, word.size());
  }
  current_.changes.push_back(
      {database, words, wall_ms_, server_->harness().state.clock.deletion_lag_ms()});
  return true;
}

inline void Simulation::NoteExpired(size_t database, const std::string& key) {
  REQUIRE_FALSE(model_.IsLive(database, key, wall_ms_));
  model_.Remove(database, key);
  current_.changes.push_back({database, {key}, wall_ms_, 0, Change::kExpiry});
}

inline bool Simulation::SetBack() {
  if (!server_->persistence().write_error().ok()) return false;
  jumped_ = false;
  const size_t effects = server_->harness().SetAllBack();
  counts_.set_back += effects;
  model_.SetBack(wall_ms_);
  if (effects == 0) return false;
  current_.changes.push_back(
      {0, {}, wall_ms_, server_->harness().state.clock.deletion_lag_ms(), Change::kSetBack});
  return true;
}

inline void Simulation::Compare(Extent extent) {
  for (size_t database = 0; database < kDatabases; ++database) {
    for (int number = 0; number < 4; ++number) CompareKeys(database, absl::StrCat(number), extent);
  }
  if (random_.OneIn(8)) CompareKeys(random_.Below(kMarkers), draw_.LongSuffix(), Extent::kAll);
  Same(kMarkers, {"GET", "turns"});
  // The base and its temporary file, the manifest, and the logs.
  constexpr size_t kMostFiles = 150;
  REQUIRE(files_.List("appendonlydir")->size() < kMostFiles);
}

inline void Simulation::CompareKeys(size_t database, const std::string& suffix, Extent extent) {
  const auto key = [&](char type) { return absl::StrCat(std::string(1, type), suffix); };
  constexpr size_t kLarge = 100'000;
  const auto same = [&](char type, const Words& words) {
    if (extent == Extent::kSome && model_.Bytes(database, key(type)) >= kLarge) return;
    SameOfAll(database, words);
  };
  const auto& long_name = draw_.long_name();
  const bool named = extent == Extent::kAll || long_name.size() < kLarge;
  const std::string last = named ? long_name : "none";
  same('s', {"GET", key('s')});
  same('n', {"GET", key('n')});
  same('l', {"LRANGE", key('l'), "0", "-1"});
  same('h', {"HMGET", key('h'), "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "n0",
             "n1", "n2", "n3", absl::StrCat("f", last)});
  same('t', {"SMISMEMBER", key('t'), "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7",
             absl::StrCat("m", last)});
  same('z', {"ZRANGE", key('z'), "0", "-1", "WITHSCORES"});
  for (const char type : {'s', 'n', 'l', 'h', 't', 'z'}) {
    SameOfAll(database, {"TYPE", key(type)});
    SameOfAll(database, {"PEXPIRETIME", key(type)});
  }
  for (const Words& words : draw_natives_.Questions(suffix, wall_ms_)) SameOfAll(database, words);
}

inline void Simulation::PassTime() {
  const int64_t ms = random_.OneIn(20) ? random_.Between(0, 3000) : random_.Between(0, 60);
  steady_us_ += ms * 1000;
  wall_ms_ += ms;
  SetClocks();
  if (clocks_ == Clocks::kFarAhead && random_.OneIn(ahead_ms_ > 0 ? 20 : 200)) return JumpFar();
  // Somebody sets the clock.
  if (random_.OneIn(300)) Jump(random_.Between(-600'000, 600'000));
}

// The clock runs far ahead for some turns.
inline void Simulation::JumpFar() {
  constexpr int64_t kHour = 3'600'000;
  constexpr int64_t kFar[] = {kHour + 1'000, 30 * kHour, 960 * kHour, 9'600 * kHour};
  ++counts_.far_jumps;
  if (ahead_ms_ > 0) return Jump(-std::exchange(ahead_ms_, 0));
  ahead_ms_ = kFar[random_.Below(std::size(kFar))];
  Jump(ahead_ms_);
}

inline void Simulation::Jump(int64_t ms) {
  wall_ms_ += ms;
  jumped_ = true;
  server_->harness().state.clock.Set(wall_ms_);
  SetClocks();
}

inline void Simulation::SetClocks() {
  latest_wall_ms_ = std::max(latest_wall_ms_, wall_ms_);
  server_->harness().PassTo(wall_ms_);
  server_->harness().state.clock.SetSteady(steady_us_ / 1000);
  model_.set_deletion_lag_ms(server_->harness().state.clock.deletion_lag_ms());
}

inline bool Simulation::WriteLargeHash(size_t database) {
  bool wrote = false;
  for (const Words& words : draw_.LargeHash()) wrote |= Write(database, words);
  return wrote;
}

// A large value while a rewrite runs, or the disk has no room for it, or both.
inline bool Simulation::WriteInNeed(size_t database) {
  if (random_.OneIn(2)) StartRewrite();
  if (random_.OneIn(2)) FillDisk();
  return Write(database, draw_.LargeWrite());
}

inline void Simulation::StartRewrite() {
  if (server_->rewriting()) return;
  server_->harness().Run("BGREWRITEAOF");
  rewriting_ = server_->rewriting();
}

// Of one that begins by itself and ends in the same turn it does not know.
inline void Simulation::CountRewrites() {
  const bool ended = std::exchange(rewriting_, server_->rewriting()) && !rewriting_;
  if (!ended) return;
  ++counts_.rewrites;
  counts_.failed_rewrites += server_->InfoNumber("aof_rewrite_failures") > 0;
}

inline void Simulation::FillOrFreeDisk() {
  if (!random_.OneIn(disk_is_full_ ? 30 : 500)) return;
  if (!disk_is_full_) return FillDisk();
  disk_is_full_ = false;
  files_.LeaveRoom(SIZE_MAX);
}

inline void Simulation::FillDisk() {
  counts_.full_disks += !std::exchange(disk_is_full_, true);
  files_.LeaveRoom(draw_.LargeSize());
}

// A clean stop, which may fail as everything else.
inline void Simulation::Stop() {
  if (server_->persistence().Close().ok()) synced_turns_ = turns_.size();
}

inline Simulation::Loss Simulation::RandomLoss() {
  return std::array{Loss::kProcessOnly, Loss::kDrop, Loss::kTear, Loss::kReorder}[random_.Below(4)];
}

inline void Simulation::Restart() {
  ++counts_.restarts;
  rewriting_ = false;
  follower_ = nullptr;
  server_ = nullptr;
  const Loss loss = RandomLoss();
  power_lost_ = loss != Loss::kProcessOnly;
  counts_.power_losses += power_lost_;
  files_.Restart(loss, random_);
  wall_ms_ = latest_wall_ms_ + random_.Between(0, 5000);
  ahead_ms_ = 0;
  jumped_ = true;
  if (random_.OneIn(4)) MoveToRdb();
  Boot();
  Recover();
}

inline void Simulation::MoveToRdb() {
  ++counts_.moves;
  files_.StopFaults();
  disk_is_full_ = false;
  files_.LeaveRoom(SIZE_MAX);
  for (const auto& [name, content] : files_.Contents()) {
    if (name.starts_with("dump.rdb")) REQUIRE(files_.Remove(name).ok());
  }
  {
    DurableServer server(files_, StartConfig());
    server.harness().PassTo(wall_ms_);
    const absl::Status status = server.Start();
    INFO(status);
    REQUIRE(status.ok());
    REQUIRE(ExportRdb(server.engine(), wall_ms_, files_, "dump.rdb").ok());
    server.Close();
  }
  const auto names = files_.List("appendonlydir");
  for (const std::string& name : *names) {
    REQUIRE(files_.Remove("appendonlydir/" + name).ok());
  }
  REQUIRE(files_.SyncDirectory("appendonlydir").ok());
}

inline void Simulation::Recover() {
  const std::string marker = server_->harness().Run(*clients_[kMarkers], "GET turns");
  const uint64_t found = marker == "nil" ? 0 : std::stoull(marker.substr(1));
  INFO(found << " turns found; " << recovered_turns_ << " and " << PromisedTurns()
             << " were promised, " << turns_.size() << " executed");
  REQUIRE(found >= recovered_turns_ + PromisedTurns());
  REQUIRE(found <= recovered_turns_ + turns_.size());
  model_ = recovered_;
  for (size_t i = 0; i < found - recovered_turns_; ++i) {
    for (const Change& change : turns_[i].changes) {
      if (change.kind == Change::kExpiry) {
        model_.Remove(change.database, change.words[0]);
        continue;
      }
      model_.set_deletion_lag_ms(change.lag_ms);
      if (change.kind == Change::kSetBack) {
        model_.SetBack(change.now_ms);
      } else {
        model_.Run(change.database, change.words, change.now_ms);
      }
    }
  }
  model_.set_deletion_lag_ms(0);
  model_.RemoveDue(wall_ms_);
  recovered_ = model_;
  recovered_turns_ = found;
  turns_.clear();
  current_ = {};
  synced_turns_ = 0;
  Compare(Extent::kAll);
}

inline uint64_t Simulation::PromisedTurns() const {
  size_t acknowledged = turns_.size();
  while (acknowledged > 0 && turns_[acknowledged - 1].acknowledged_ms == kNotAcknowledged) {
    --acknowledged;
  }
  size_t promised = 0;
  if (!power_lost_ || policy_ == FsyncPolicy::kAlways) {
    promised = acknowledged;
  } else if (policy_ == FsyncPolicy::kEverysec && acknowledged > 0) {
    // What is lost was acknowledged within one second.
    const int64_t last_ms = turns_[acknowledged - 1].acknowledged_ms;
    const auto is_old = [&](const WrittenTurn& turn) {
      return turn.acknowledged_ms != kNotAcknowledged && turn.acknowledged_ms < last_ms - 1000;
    };
    promised = acknowledged;
    while (promised > 0 && !is_old(turns_[promised - 1])) --promised;
  }
  return std::max(promised, synced_turns_);
}

inline Config Simulation::StartConfig() const {
  Config config;
  config.databases = kDatabases;
  config.appendfsync = policy_;
  config.auto_aof_rewrite_percentage = 100;
  config.auto_aof_rewrite_min_size = 20'000;
  config.proto_max_bulk_len = draw_.largest();
  return config;
}

inline void Simulation::Boot() {
  const Config config = StartConfig();
  for (int attempt = 0;; ++attempt) {
    // A start may crash, too, and lose more of what was not on disk.
    files_.StopFaults();
    disk_is_full_ = false;
    files_.LeaveRoom(SIZE_MAX);
    if (attempt < 5 && random_.OneIn(8)) FillDisk();
    if (attempt < 5 && random_.OneIn(2)) files_.FailAtRandom(random_, 10);
    server_ = std::make_unique<DurableServer>(files_, config);
    server_->set_on_expired(
        [this](size_t database, std::string_view key) { NoteExpired(database, std::string(key)); });
    SetClocks();
    const absl::Status status = server_->Start();
    if (status.ok()) break;
    INFO(status);
    REQUIRE_FALSE(absl::IsDataLoss(status));
    REQUIRE(attempt < 5);
    server_ = nullptr;
    if (files_.crashed()) {
      const Loss loss = RandomLoss();
      power_lost_ |= loss != Loss::kProcessOnly;
      files_.Restart(loss, random_);
    }
  }
  files_.StopFaults();
  if (random_.OneIn(2)) follower_ = std::make_unique<EffectFollower>(server_->harness());
  for (size_t i = 0; i < kDatabases; ++i) {
    clients_[i] = server_->harness().Connect();
    server_->harness().Run(*clients_[i], absl::StrCat("SELECT ", i));
  }
  if (random_.OneIn(4)) return;
  files_.FailAtRandom(random_, 10 + random_.Below(500));
}

}  // namespace tally::server
