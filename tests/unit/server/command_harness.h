// The server without sockets and files: commands in, replies and logged effects out, under a clock
// that does not move by itself.
#pragma once

#include <catch2/catch.hpp>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/byte_blocks.h"
#include "core/bytes/str_cat.h"
#include "core/tzdata/tzdata_zones.h"
#include "server/acl/acl_guard.h"
#include "server/admin/families.h"
#include "server/dispatch/dispatcher.h"
#include "server/figures/figure_sink.h"
#include "server/loop/clock_set_back.h"
#include "server/loop/keyspace_observer.h"
#include "server/process/server_state.h"
#include "server/replication/replica_links.h"
#include "server/reply_text.h"
#include "server/resp/parser.h"
#include "tests/no_primary.h"
#include "tests/unit/server/no_migrations.h"

namespace tally::server {

class FakePersistence : public Persistence {
 public:
  const absl::Status& write_error() const override { return error; }
  bool accepts_writes() const override { return error.ok(); }
  absl::Status StartRewrite() override {
    if (in_rewrite) return absl::FailedPreconditionError("a rewrite is under way");
    in_rewrite = true;
    return absl::OkStatus();
  }
  absl::Status StartSave() override { return StartRewrite(); }
  absl::Status WriteRdb(RdbRequest request) override {
    rdb_requests.push_back(std::move(request));
    return absl::OkStatus();
  }
  absl::StatusOr<SyncBase> TakeRdb(const std::string&) override { return base(); }
  void RemoveRdb(const std::string&) override {}
  bool rewriting() const override { return in_rewrite; }
  absl::StatusOr<SyncBase> OpenBase() const override {
    if (base == nullptr) return absl::NotFoundError("no base");
    return base();
  }
  absl::StatusOr<std::unique_ptr<StreamSource>> OpenStream(uint64_t) const override {
    return absl::NotFoundError("no log");
  }
  absl::Status SaveNow() override {
    ++saves;
    return save_status;
  }
  absl::Status SaveAtEnd() override {
    ++saves_at_end;
    return save_status;
  }
  absl::Status ApplyConfig() override { return absl::OkStatus(); }
  absl::Status Reload() override {
    ++reloads;
    return absl::OkStatus();
  }
  void Report(FigureSink& figures) const override { figures.Add("aof_enabled", 0); }
  int64_t last_save_ms() const override { return 1'600'000'000'000; }

  absl::Status error;
  absl::Status save_status;
  std::function<SyncBase()> base;
  std::vector<RdbRequest> rdb_requests;
  bool in_rewrite = false;
  int saves = 0;
  int saves_at_end = 0;
  int reloads = 0;
};

class FakeProcess : public Process {
 public:
  absl::Status Shutdown(bool force, EndSave save) override {
    ++shutdowns;
    forced = force;
    saving = save != EndSave::kNone;
    return shutdown_status;
  }
  absl::Status ApplyConfig(std::string_view name) override {
    applied.emplace_back(name);
    return apply(name);
  }
  int64_t started_ms() const override { return started; }
  bool ServeOthers() override { return serve_others(); }

  absl::Status shutdown_status;
  absl::Status apply_status;
  int shutdowns = 0;
  bool forced = false;
  bool saving = false;
  int64_t started = 0;
  std::vector<std::string> applied;
  std::function<absl::Status(std::string_view name)> apply = [this](std::string_view) {
    return apply_status;
  };
  std::function<bool()> serve_others = [] { return true; };
};

// What was appended, which leaves nothing there.
inline std::string Taken(ByteBlocks& bytes) {
  std::string taken = bytes.Joined();
  bytes.Clear();
  return taken;
}

// A sink that keeps what it receives.
class EffectText : public EffectSink {
 public:
  void Receive(uint64_t, std::string_view effects) override { text += effects; }

  std::string text;
};

class CommandHarness {
 public:
  static constexpr int64_t kBegin = 1'700'000'000'000;  // unix ms

  explicit CommandHarness(Config config_in = {})
      : config(std::move(config_in)),
        engine(static_cast<size_t>(config.databases), 42, zones),
        log_(Logger::Open("/dev/null", LogLevel::kWarning).value()),
        state(commands, engine, config, *log_),
        dispatcher(state.services) {
    state.clock.Set(kBegin);
    process.started = kBegin;
    state.services.persistence.Fill(persistence);
    state.services.process.Fill(process);
    state.effects.Attach(effects_);
    state.key_events.set_classes(config.notify_keyspace_events);
    self = Connect();
  }
  ~CommandHarness() {
    for (auto& client : clients_) Forget(*client);
  }

  using Words = std::vector<std::string>;

  // The bytes of the reply. A command that waits for CLIENT UNPAUSE gives "postponed".
  std::string Wire(Client& client, const Words& words) {
    const std::vector<std::string_view> args(words.begin(), words.end());
    client.output.Clear();
    if (!dispatcher.Execute(client, args)) return "postponed";
    return Taken(client.output);
  }
  // The reply as ReplyText shows it.
  std::string Run(Client& client, const Words& words) {
    const std::string wire = Wire(client, words);
    return wire == "postponed" ? wire : ReplyText::Of(wire);
  }
  std::string Run(const Words& words) { return Run(*self, words); }
  // Words parted by blanks, for commands that have none in their arguments.
  template <std::convertible_to<std::string_view> Line>
  std::string Run(const Line& line) {
    return Run(*self, Split(line));
  }
  template <std::convertible_to<std::string_view> Line>
  std::string Run(Client& client, const Line& line) {
    return Run(client, Split(line));
  }

  // Another client.
  Client* Connect() {
    clients_.push_back(std::make_unique<Client>());
    Client& client = *clients_.back();
    state.clients.Add(client);
    client.address = StrCat("127.0.0.1:", 50000 + client.id);
    client.local_address = "127.0.0.1:6379";
    client.created_ms = client.last_active_ms = state.clock.elapsed_ms();
    LoginAsDefault(state.users, client);
    return &client;
  }
  void Disconnect(Client* client) {
    Forget(*client);
    std::erase_if(clients_, [&](const auto& one) { return one.get() == client; });
  }
  // What has been sent to a client beside the replies to its own commands.
  std::string Received(Client& client) { return ReplyText::Of(Taken(client.output)); }

  int64_t now() const { return state.clock.now_ms(); }
  void Advance(int64_t ms) { REQUIRE(state.clock.Advance(ms)); }
  // Time passes until the clock shows `ms`; a clock that shows more is set back.
  void PassTo(int64_t ms) { ms >= now() ? Advance(ms - now()) : state.clock.Set(ms); }
  // Removes what is due, as the server does between turns.
  void ExpireDue() {
    while (engine.ExpireSome(now(), [] { return true; })) {
    }
  }

  // Sets back what lies after now, as the server does after a jump of its clock. Returns the number
  // of effects.
  size_t SetAllBack() {
    ClockSetBack set_back(state.services);
    size_t effects = 0;
    while (set_back.goes_on()) effects += set_back.Next();
    return effects;
  }

  // From now on Effects() gives nothing, and takes no memory.
  void StopEffects() { state.effects.Detach(effects_); }
  // The commands logged since the last call, each as its words parted by blanks. The choice of
  // database 0 is left out.
  std::vector<std::string> Effects() {
    std::vector<std::string> lines;
    RequestParser parser;
    state.effects.Deliver();
    std::string_view rest = effects_.text;
    while (!rest.empty()) {
      REQUIRE(parser.Next(rest) == ParseStatus::kCommand);
      std::string line;
      for (const std::string_view arg : parser.args()) {
        StrAppend(line, line.empty() ? "" : " ", arg);
      }
      if (line != "SELECT 0") lines.push_back(std::move(line));
      rest.remove_prefix(parser.consumed());
    }
    effects_.text.clear();
    return lines;
  }

  Config config;
  CommandTable commands{CommandFamilies()};
  TzdataZones zones;
  Engine engine;

 private:
  std::unique_ptr<Logger> log_;

 public:
  ServerState state;
  Dispatcher dispatcher;
  FakePersistence persistence;
  FakeProcess process;
  NoPrimary primary{state.services};
  tally::test::NoMigrations migrations{state.services};
  Client* self = nullptr;  // who runs what no client is named for

 private:
  static Words Split(std::string_view line) {
    Words words;
    while (!line.empty()) {
      const size_t end = std::min(line.find(' '), line.size());
      if (end > 0) words.emplace_back(line.substr(0, end));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
  }

  void Forget(Client& client) {
    state.watches.UnwatchAll(client);
    state.pubsub.Forget(client);
    state.tracking.Stop(client);
    state.blocked.Take(client);
    replicas.Forget(client);
    state.clients.Remove(client);
  }

  std::vector<std::unique_ptr<Client>> clients_;
  EffectText effects_;
  KeyspaceObserver observer_{state.services};

 public:
  ReplicaLinks replicas{state.services, [] { return std::string(StreamId::kDigits, 'e'); }};
};

}  // namespace tally::server
