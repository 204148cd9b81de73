// Three servers that follow one another on files and a network in memory, with dice for all that
// chance brings: commands, time and clocks, bad disks, crashes, links that are cut and parted,
// other primaries, failovers and chains. What each primary ever held is known by its place in the
// stream: whoever is at that place must hold the same.
#pragma once

#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "fake_network.h"
#include "random_commands.h"
#include "random_natives.h"
#include "random_seed.h"
#include "replicated_server.h"

namespace tally::server {

struct ReplicationCounts {
  uint64_t commands = 0;
  uint64_t compared = 0;  // states of replicas with what the primary had there
  uint64_t full_syncs = 0;
  uint64_t partial_syncs = 0;
  uint64_t cuts = 0;
  uint64_t partitions = 0;
  uint64_t crashes = 0;
  uint64_t power_losses = 0;
  uint64_t promotions = 0;
  uint64_t failovers = 0;  // that ended with another primary
  uint64_t given_up = 0;   // failovers that did not
  uint64_t moves = 0;      // of a replica to another primary
  uint64_t jumps = 0;
  uint64_t heals = 0;

  std::string Text() const {
    return StrCat(commands, " commands; ", compared, " states of replicas compared; ", full_syncs,
                  " full syncs, ", partial_syncs, " partial ones; ", cuts, " links cut, ",
                  partitions, " partitions; ", crashes, " crashes, ", power_losses,
                  " of them power losses; ", promotions, " promotions, ", failovers,
                  " failovers and ", given_up, " given up, ", moves, " replicas moved; ", jumps,
                  " jumps of a clock; ", heals, " times all were equal at the end");
  }
};

class ReplicationSimulation {
 public:
  ReplicationSimulation(test::SeededRandom& random, FsyncPolicy policy);

  // Time passes, bytes move, and each server has a turn.
  void Turn();
  // All troubles end: within a bounded time all must be equal.
  void Heal();
  ReplicationCounts counts() const;

 private:
  using Loss = test::FakeFileSystem::Loss;
  static constexpr size_t kServers = 3;
  static constexpr size_t kDatabases = 2;
  static constexpr int64_t kFirstPort = 7001;

  struct Node {
    int64_t port = 0;
    int64_t follows = 0;  // a port; 0: nobody
    test::FakeFileSystem files;
    std::unique_ptr<ReplicatedServer> server;  // null while it is down
    int64_t ahead_ms = 0;                      // its clock, of the others
    int64_t latest_ms = 0;                     // what its clock has shown
    bool jumped = false;
    bool may_take_over = false;  // asked by a primary that has crashed since
    bool fails_over() const { return server != nullptr && server->harness().state.pause.failover; }
    std::pair<std::string, uint64_t> compared;  // the place where that was done last
  };
  // What a primary held at a place of its history, and how that was asked.
  struct Held {
    uint64_t seed;
    int64_t now_ms;
    bool whole;  // otherwise only the limits, which is cheap: what differs there may soon be gone
    std::string digest;
  };
  struct History {
    std::string earlier;  // it goes on from this one; empty: it is new
    uint64_t earlier_end = 0;
    // By offset; null where nobody has looked.
    std::map<uint64_t, std::optional<Held>> held;
  };

  Node& primary() { return nodes_[primary_]; }
  Node& At(int64_t port) { return nodes_[static_cast<size_t>(port - kFirstPort)]; }
  int64_t NowOf(const Node& node) const { return steady_us_ / 1000 + kBeginMs + node.ahead_ms; }
  void PassTime();
  void SetClock(Node& node);
  void Boot(Node& node);
  void Crash(Node& node);
  void Retire(Node& node);
  void Run(Node& node, bool writes);
  void Write(Node& node);
  void Rearrange();
  void Follow(Node& node, int64_t port);
  void Promote(size_t next);
  void BeginFailover();
  void WatchFailover();
  void Straighten();
  void Trouble();

  // Whose state is known at the place where the node is; null if none is.
  std::optional<Held>* Find(std::string id, uint64_t offset);
  void Note(Node& node);
  void Compare(Node& node);
  std::string DigestOf(Node& node, const Held& how);
  static void RequireSame(const std::string& found, const std::string& expected);
  bool IsEqual(Node& node);
  // Who follows whom, and what stands in the way.
  std::string Text() const;

  static constexpr int64_t kBeginMs = 1'700'000'000'000;

  test::SeededRandom& random_;
  FsyncPolicy policy_;
  test::RandomCommands draw_;
  test::RandomNatives draw_natives_;
  test::FakeNetwork network_;
  std::array<Node, kServers> nodes_;
  size_t primary_ = 0;
  Node* failover_to_ = nullptr;  // which the primary has been told to hand its role to
  bool may_lose_ = false;        // by FORCE
  std::map<std::string, History> histories_;
  uint64_t last_id_ = 0;
  int64_t steady_us_ = 1'000'000'000;
  ReplicationCounts counts_;
};

inline ReplicationSimulation::ReplicationSimulation(test::SeededRandom& random, FsyncPolicy policy)
    : random_(random),
      policy_(policy),
      draw_(random, 20'000),
      draw_natives_(random, draw_.long_name()),
      network_(random) {
  for (size_t i = 0; i < kServers; ++i) {
    nodes_[i].port = kFirstPort + static_cast<int64_t>(i);
    nodes_[i].follows = i == 0 ? 0 : nodes_[i - 1].port;
    nodes_[i].ahead_ms = random_.Between(-5000, 5000);
    nodes_[i].files.UseDicedWorkers(random, [this](int64_t us) { steady_us_ += us; });
    Boot(nodes_[i]);
  }
}

inline ReplicationCounts ReplicationSimulation::counts() const {
  ReplicationCounts counts = counts_;
  counts.cuts = network_.cuts();
  for (const Node& node : nodes_) {
    if (node.server == nullptr) continue;
    counts.full_syncs += node.server->primary().full_syncs;
    counts.partial_syncs += node.server->primary().partial_syncs;
  }
  return counts;
}

inline void ReplicationSimulation::Turn() {
  PassTime();
  network_.Step();
  for (Node& node : nodes_) {
    if (node.server == nullptr) {
      if (random_.OneIn(40)) Boot(node);
    } else if (!random_.OneIn(4)) {
      Run(node, true);
    }
    if (node.server != nullptr && (node.files.crashed() || random_.OneIn(300))) Crash(node);
  }
  WatchFailover();
  Rearrange();
  Trouble();
}

inline void ReplicationSimulation::PassTime() {
  steady_us_ += 1000 * (random_.OneIn(20) ? random_.Between(0, 3000) : random_.Between(0, 60));
  if (!random_.OneIn(300)) return;
  Node& node = nodes_[random_.Below(kServers)];
  ++counts_.jumps;
  node.ahead_ms += random_.Between(-600'000, 600'000);
  if (node.server == nullptr) return;
  node.server->harness().state.clock.Set(NowOf(node));
  node.jumped = true;
}

inline void ReplicationSimulation::SetClock(Node& node) {
  node.latest_ms = std::max(node.latest_ms, NowOf(node));
  node.server->harness().PassTo(NowOf(node));
  node.server->harness().state.clock.SetSteady(steady_us_ / 1000);
}

inline void ReplicationSimulation::Run(Node& node, bool writes) {
  ReplicatedServer& server = *node.server;
  SetClock(node);
  if (random_.OneIn(2)) server.Tick();
  server.BeginTurn();
  const bool leads = !server.is_replica() && !server.loading() && !node.fails_over();
  if (leads && writes) Write(node);
  if (leads && server.persistence().write_error().ok()) {
    if (std::exchange(node.jumped, false)) server.harness().SetAllBack();
    server.harness().ExpireDue();
  }
  if (random_.OneIn(150)) server.harness().Run("BGREWRITEAOF");
  server.EndTurn();
  if (!server.loading()) server.is_replica() ? Compare(node) : Note(node);
}

inline void ReplicationSimulation::Write(Node& node) {
  if (random_.OneIn(3)) return;
  CommandHarness& harness = node.server->harness();
  const int64_t now_ms = harness.now();
  for (uint64_t count = random_.Below(9); count > 0; --count) {
    harness.self->database = random_.Below(kDatabases);
    harness.Wire(*harness.self,
                 random_.OneIn(3) ? draw_natives_.Write(now_ms) : draw_.Write(now_ms));
    ++counts_.commands;
  }
}

inline void ReplicationSimulation::Trouble() {
  if (random_.OneIn(60)) network_.Heal();
  if (random_.OneIn(300)) {
    ++counts_.partitions;
    const size_t one = random_.Below(kServers);
    network_.Part(nodes_[one].port, nodes_[(one + 1) % kServers].port);
  }
  Node& node = nodes_[random_.Below(kServers)];
  if (random_.OneIn(200)) node.files.FailAtRandom(random_, 10 + random_.Below(500));
  if (random_.OneIn(40)) node.files.StopFaults();
}

// The primary hands its role to a replica.
inline void ReplicationSimulation::BeginFailover() {
  Node& node = nodes_[(primary_ + 1 + random_.Below(kServers - 1)) % kServers];
  const Node& old = primary();
  if (failover_to_ != nullptr || node.server == nullptr || node.follows != old.port) return;
  if (old.server == nullptr || old.server->is_replica() || old.server->loading()) return;
  may_lose_ = random_.OneIn(3);
  const std::string reply =
      old.server->harness().Run(StrCat("FAILOVER TO 127.0.0.1 ", node.port, " TIMEOUT ",
                                       random_.Between(1, 10'000), may_lose_ ? " FORCE" : ""));
  if (reply == "+OK") failover_to_ = &node;
}

// Nothing is lost but by FORCE, and there are no two primaries, whichever answers were lost.
inline void ReplicationSimulation::WatchFailover() {
  for (Node& node : nodes_) {
    const bool took_over = node.server != nullptr && !node.server->is_replica() &&
                           node.follows != 0 && &node != failover_to_;
    if (!took_over) continue;
    REQUIRE(node.may_take_over);
    node.follows = 0;
  }
  if (failover_to_ == nullptr) return;
  Node& old = primary();
  Node& target = *failover_to_;
  const bool leads = target.server != nullptr && !target.server->is_replica();
  // It has answered, and crashed since.
  const bool led = old.server != nullptr && old.server->is_replica() && !old.fails_over();
  if (leads || led) {
    ++counts_.failovers;
    failover_to_ = nullptr;
    target.follows = 0;
    primary_ = static_cast<size_t>(&target - nodes_.data());
    if (old.server == nullptr || !old.server->is_replica()) return;
    old.follows = target.port;
    REQUIRE((led || may_lose_ || target.server->offset() >= old.server->offset()));
  } else if (!old.fails_over()) {
    ++counts_.given_up;
    target.may_take_over |= old.server == nullptr;
    failover_to_ = nullptr;
  }
}

inline void ReplicationSimulation::Rearrange() {
  if (random_.OneIn(50)) BeginFailover();
  if (failover_to_ != nullptr) return;
  if (random_.OneIn(primary().server == nullptr ? 40 : 300)) {
    const size_t next = (primary_ + 1 + random_.Below(kServers - 1)) % kServers;
    const Node& node = nodes_[next];
    const bool can = node.server != nullptr && node.follows != 0 && !node.server->loading() &&
                     !node.fails_over();
    if (can) Promote(next);
  }
  if (!random_.OneIn(80)) return;
  Node& node = nodes_[random_.Below(kServers)];
  if (&node == &primary()) return;
  // The third one, unless that would be a ring; a deposed primary comes back by this too.
  const Node& third = nodes_[3 - primary_ - static_cast<size_t>(node.port - kFirstPort)];
  const bool chains = third.follows == primary().port && random_.OneIn(2);
  Follow(node, chains ? third.port : primary().port);
}

inline void ReplicationSimulation::Follow(Node& node, int64_t port) {
  const bool is_busy = node.server != nullptr && (node.server->loading() || node.fails_over());
  if (node.follows == port || is_busy) return;
  ++counts_.moves;
  node.follows = port;
  if (node.server == nullptr) return;
  const std::string reply = node.server->harness().Run(StrCat("REPLICAOF 127.0.0.1 ", port));
  INFO(reply);
  REQUIRE(reply.starts_with("+OK"));
}

// The old primary goes on as one until it is told.
inline void ReplicationSimulation::Promote(size_t next) {
  ++counts_.promotions;
  primary_ = next;
  primary().follows = 0;
  SetClock(primary());
  REQUIRE(primary().server->harness().Run("REPLICAOF NO ONE") == "+OK");
  Note(primary());
}

inline void ReplicationSimulation::Boot(Node& node) {
  Config config;
  config.databases = kDatabases;
  config.port = node.port;
  config.appendfsync = policy_;
  config.auto_aof_rewrite_percentage = 100;
  config.auto_aof_rewrite_min_size = 20'000;
  config.proto_max_bulk_len = draw_.largest();
  config.repl_backlog_size = 10'000;
  if (node.follows != 0) {
    config.replicaof_host = "127.0.0.1";
    config.replicaof_port = node.follows;
  }
  node.files.StopFaults();
  node.ahead_ms += std::max<int64_t>(0, node.latest_ms - NowOf(node));
  node.compared = {};
  node.server = std::make_unique<ReplicatedServer>(node.files, network_, config, [this] {
    const std::string number = StrCat(++last_id_);
    return std::string(StreamId::kDigits - number.size(), 'a') + number;
  });
  SetClock(node);
  const absl::Status status = node.server->Load();
  INFO(status);
  REQUIRE(status.ok());
  // A primary, too, has come back to a place where it was.
  Compare(node);
  node.server->Serve();
  if (!node.server->is_replica()) Note(node);
}

inline void ReplicationSimulation::Retire(Node& node) {
  counts_.full_syncs += node.server->primary().full_syncs;
  counts_.partial_syncs += node.server->primary().partial_syncs;
  node.server = nullptr;
  node.may_take_over = false;
}

inline void ReplicationSimulation::Crash(Node& node) {
  constexpr std::array kLosses = {Loss::kProcessOnly, Loss::kDrop, Loss::kTear, Loss::kReorder};
  ++counts_.crashes;
  Retire(node);
  const Loss loss = kLosses[random_.Below(kLosses.size())];
  counts_.power_losses += loss != Loss::kProcessOnly;
  node.files.Restart(loss, random_);
}

inline std::optional<ReplicationSimulation::Held>* ReplicationSimulation::Find(std::string id,
                                                                               uint64_t offset) {
  while (true) {
    const auto history = histories_.find(id);
    if (history == histories_.end()) return nullptr;
    const auto held = history->second.held.find(offset);
    if (held != history->second.held.end()) return &held->second;
    if (history->second.earlier.empty() || offset > history->second.earlier_end) return nullptr;
    id = history->second.earlier;
  }
}

// What a primary holds now, at a new place of its history.
inline void ReplicationSimulation::Note(Node& node) {
  const StreamId& id = node.server->harness().state.stream_id;
  const auto [history, is_new] = histories_.try_emplace(id.id());
  if (is_new && id.has_previous()) {
    history->second.earlier = id.previous();
    history->second.earlier_end = id.previous_end();
  }
  auto& held = history->second.held[node.server->offset()];
  if (held) return Compare(node);
  held = Held{random_.Next(), NowOf(node), random_.OneIn(5), {}};
  held->digest = DigestOf(node, *held);
}

// Shows where they differ.
inline void ReplicationSimulation::RequireSame(const std::string& found,
                                               const std::string& expected) {
  const auto [one, other] = std::ranges::mismatch(found, expected);
  const auto at = static_cast<size_t>(one - found.begin());
  const size_t begin = at - std::min<size_t>(at, 150);
  INFO("found: " << found.substr(begin, 300) << "\nexpected: " << expected.substr(begin, 300));
  REQUIRE(at == std::max(found.size(), expected.size()));
}

inline void ReplicationSimulation::Compare(Node& node) {
  ReplicatedServer& server = *node.server;
  if (!histories_.contains(server.id())) {
    // Its own data, which a full sync will replace.
    REQUIRE(server.primary().link != PrimaryState::Link::kConnected);
    return;
  }
  INFO("server " << node.port << " at " << server.id() << " " << server.offset());
  const std::optional<Held>* held = Find(server.id(), server.offset());
  // A replica is where its primary was at the end of a turn.
  REQUIRE(held != nullptr);
  const std::pair place(server.id(), server.offset());
  if (!*held || std::exchange(node.compared, place) == place) return;
  counts_.compared += (*held)->whole;
  RequireSame(DigestOf(node, **held), (*held)->digest);
}

// All that the data shows to one who asks at that instant. Nothing is changed by it.
inline std::string ReplicationSimulation::DigestOf(Node& node, const Held& how) {
  CommandHarness& harness = node.server->harness();
  const Clock clock = harness.state.clock;
  const Expiry expiry = harness.engine.expiry();
  harness.state.clock.set_watcher(nullptr);
  harness.state.clock.Set(how.now_ms);
  harness.engine.set_expiry(Expiry::kIgnore);
  harness.engine.set_deletion_lag_ms(0);
  test::SeededRandom dice(how.seed);
  test::RandomNatives natives(dice, draw_.long_name());
  std::string digest;
  const auto ask = [&](const std::vector<std::string>& words) {
    StrAppend(digest, absl::StrJoin(words, " ").substr(0, 80), " = ",
              harness.Wire(*harness.self, words), "\n");
  };
  const uint64_t offset = node.server->offset();
  for (size_t database = 0; database < kDatabases; ++database) {
    harness.self->database = database;
    ask({"DBSIZE"});
    for (const std::string& suffix : {std::string("0"), std::string("1"), std::string("2"),
                                      std::string("3"), draw_.LongSuffix()}) {
      ask({"PEXPIRETIME", "L" + suffix});
      ask({"LIMIT.SHOW", "L" + suffix});
      if (!how.whole) continue;
      for (const auto& words : draw_.Questions(suffix)) ask(words);
      for (const auto& words : natives.Questions(suffix, how.now_ms)) ask(words);
    }
  }
  REQUIRE(node.server->offset() == offset);
  harness.engine.set_expiry(expiry);
  harness.state.clock = clock;
  harness.engine.set_deletion_lag_ms(clock.deletion_lag_ms());
  return digest;
}

inline bool ReplicationSimulation::IsEqual(Node& node) {
  ReplicatedServer& server = *node.server;
  return &node == &primary() ||
         (!server.loading() && server.primary().link == PrimaryState::Link::kConnected &&
          server.id() == primary().server->id() && server.offset() == primary().server->offset());
}

// A deposed primary comes back, and two replicas that follow each other follow nobody. One that was
// told to hand its role to a server that has begun a history of its own since is told by hand.
inline void ReplicationSimulation::Straighten() {
  for (Node& node : nodes_) {
    if (&node == &primary()) continue;
    if (node.fails_over() && failover_to_ == nullptr && random_.OneIn(100)) {
      REQUIRE(node.server->harness().Run("FAILOVER ABORT") == "+OK");
      node.follows = 0;
    }
    const bool lost = node.follows == 0 || At(node.follows).follows == node.port;
    if (lost) Follow(node, primary().port);
  }
}

inline std::string ReplicationSimulation::Text() const {
  std::string text;
  for (const Node& node : nodes_) {
    if (node.server == nullptr) continue;
    const PrimaryState state = node.server->primary();
    StrAppend(text, &node == &nodes_[primary_] ? "the primary " : "", node.port, " follows ",
              node.follows, node.server->is_replica() ? StrCat(", in fact ", state.port) : "",
              node.fails_over() ? " and fails over" : "", ": ", state.last_error, "\n");
  }
  return text;
}

inline void ReplicationSimulation::Heal() {
  network_.set_troubled(false);
  network_.Heal();
  for (Node& node : nodes_) {
    if (node.files.crashed()) Crash(node);
    if (node.server == nullptr) Boot(node);
    node.files.StopFaults();
  }
  const auto all_equal = [this] {
    return std::all_of(nodes_.begin(), nodes_.end(), [this](Node& node) { return IsEqual(node); });
  };
  constexpr int kMostTurns = 3000;
  for (int turn = 0; turn < 10 || !all_equal(); ++turn) {
    INFO(Text());
    REQUIRE(turn < kMostTurns);
    Straighten();
    // Who was asked to take over has another history, since it lost its power after its answer was
    // lost. No answer settles that: a person does.
    const bool settled_by_hand =
        turn == kMostTurns / 2 && primary().fails_over() &&
        primary().server->primary().last_error.find("replid must match") != std::string::npos;
    if (settled_by_hand) {
      REQUIRE(primary().server->harness().Run("FAILOVER ABORT") == "+OK");
    }
    steady_us_ += 200'000;
    network_.Step();
    for (Node& node : nodes_) Run(node, false);
    WatchFailover();
  }
  const Held how{random_.Next(), NowOf(primary()), true, {}};
  const std::string digest = DigestOf(primary(), how);
  for (Node& node : nodes_) RequireSame(DigestOf(node, how), digest);
  ++counts_.heals;
  network_.set_troubled(true);
}

}  // namespace tally::server
