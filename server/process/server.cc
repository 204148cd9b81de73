#include "server/process/server.h"

#include <absl/strings/str_format.h>

#include <chrono>
#include <random>

#include "server/acl/acl_file.h"
#include "server/admin/families.h"
#include "server/config/renamed_commands.h"
#include "server/durability/rdb_export.h"
#include "server/durability/redis_files.h"
#include "server/memory/memory_usage.h"
#include "server/net/descriptors.h"
#include "server/web/routes.h"

namespace tally::server {
namespace {

// How long a turn loads data before clients are answered LOADING.
constexpr int64_t kLoadMicros = 1000;

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

std::string RandomHex(size_t digits) {
  std::random_device device;
  std::string text;
  while (text.size() < digits) absl::StrAppendFormat(&text, "%08x", device());
  text.resize(digits);
  return text;
}

}  // namespace

Server::Server(Config& config, Logger& log, Supervisor& supervisor, const std::string& config_path)
    : config_(config),
      log_(log),
      supervisor_(supervisor),
      commands_(CommandFamilies(config.scripting)),
      engine_(static_cast<size_t>(config.databases), RandomSeed(), zones_),
      state_(commands_, engine_, config, log),
      dispatcher_(state_.services),
      persistence_(state_.services, files_),
      replicas_(state_.services, [] { return RandomHex(StreamId::kDigits); }),
      replica_waits_(state_.services, dispatcher_),
      keyspace_observer_(state_.services),
      replica_({state_.services, persistence_, files_, poller_,
                [] { return RandomHex(StreamId::kDigits); }}),
      slice_timer_(poller_, [this] { slice_timer_runs_ = false; }),
      blocked_timeouts_(poller_, state_.services, dispatcher_),
      migrator_(poller_, state_.services, dispatcher_),
      turn_clock_(state_.clock, state_.loop),
      queue_(state_.services, dispatcher_),
      site_(Routes(), state_.clients),
      connections_(state_.services, dispatcher_, site_, queue_, poller_),
      listeners_(poller_, state_.services, connections_),
      client_output_(state_.clients, state_.stats),
      data_upkeep_(state_.services),
      client_limits_(state_.services, connections_),
      periodic_work_(poller_, state_.services, turn_clock_,
                     {.persistence = persistence_,
                      .data = data_upkeep_,
                      .clients = client_limits_,
                      .replica = replica_,
                      .replicas = replicas_,
                      .waits = replica_waits_,
                      .listeners = listeners_,
                      .events = site_.events}),
      end_(state_.services, supervisor),
      signals_(poller_, log, turn_clock_, end_) {
  state_.services.process.Fill(*this);
  state_.services.run_id = RandomHex(40);
  state_.services.config_path = config_path;
}

Server::~Server() = default;

absl::Status Server::OpenFiles(const MoveOptions& options) {
  state_.clock.Tick();
  started_ms_ = state_.clock.now_ms();
  if (absl::Status status = RenameCommands(config_, commands_); !status.ok()) return status;
  if (absl::Status status = LoadUsers(); !status.ok()) return status;
  Evictor::ApplyConfig(state_.services);
  persistence_.set_move_options(options);
  return persistence_.Open();
}

absl::Status Server::Import(const MoveOptions& options) {
  absl::Status status = OpenFiles(options);
  while (status.ok() && state_.services.loading) status = persistence_.LoadSlice(kLoadMicros);
  return status.ok() ? persistence_.Close() : status;
}

absl::Status Server::Export(const std::string& path) {
  const auto redis = FindRedisFiles(files_, config_);
  if (!redis.ok()) return redis.status();
  // A start would take them over, and an export changes nothing.
  if (redis->has_value()) return absl::FailedPreconditionError("what is in dir is Redis's own");
  // So that no log is begun.
  config_.appendonly = false;
  if (!files_.List(config_.appenddirname).ok()) {
    return absl::NotFoundError(StrCat("dir has no data in ", config_.appenddirname));
  }
  absl::Status status = OpenFiles({});
  while (status.ok() && state_.services.loading) status = persistence_.LoadSlice(kLoadMicros);
  if (status.ok()) status = ExportRdb(engine_, state_.clock.now_ms(), files_, path);
  return status;
}

absl::Status Server::Start(const MoveOptions& options) {
  state_.key_events.set_classes(config_.notify_keyspace_events);
  replica_.Start();
  if (absl::Status status = OpenFiles(options); !status.ok()) return status;
  if (absl::Status status = listeners_.Open(); !status.ok()) return status;
  periodic_work_.Start();
  return absl::OkStatus();
}

absl::Status Server::LoadUsers() {
  absl::Status status = tally::server::LoadUsers(config_, state_.users);
  config_.users.clear();
  return status;
}

int Server::Run() {
  if (!state_.services.loading) BeginServing();
  while (!end_.IsDue()) {
    poller_.Poll(HasWork() || state_.services.loading || SliceIsDue());
    turn_clock_.EndEvents();
    replica_.Serve();
    queue_.Serve();
    turn_clock_.EndPart(TurnPart::kCommands);
    if (state_.services.loading) {
      LoadSome();
      turn_clock_.EndPart(TurnPart::kLoading);
    }
    EndTurn();
  }
  if (end_.failed_to_start()) return 1;
  client_output_.Flush();
  const absl::Status status = persistence_.Close();
  if (!status.ok()) {
    log_.Warning("The append-only file could not be closed: ", std::string(status.message()));
    return 1;
  }
  log_.Notice("tallyd is now ready to exit, bye bye...");
  return 0;
}

bool Server::HasWork() const {
  return data_upkeep_.HasWork() || state_.tracking.has_work() || state_.clients.has_pending() ||
         queue_.HasWork() || replicas_.HasWork() || replica_.HasWork();
}

// Whether a rewrite needs a slice now. If it needs one later, Poll waits no longer than until then.
bool Server::SliceIsDue() {
  const auto micros = persistence_.NextSliceInMicros();
  if (micros && *micros > 0 && !slice_timer_runs_) {
    slice_timer_runs_ = true;
    slice_timer_.ExpireAfter(std::chrono::microseconds(*micros));
  }
  return micros == 0;
}

// Nothing is sent before the effects of the turn have been logged.
void Server::EndTurn() {
  data_upkeep_.Slice();
  state_.tracking.FinishTurn();
  migrator_.Serve();
  blocked_timeouts_.Schedule();
  turn_clock_.EndPart(TurnPart::kUpkeep);
  const absl::Status logged = persistence_.FlushTurn();
  if (logged.ok()) replica_.EndTurn();
  if (replicas_.TakeAcknowledged()) replica_waits_.Serve();
  replicas_.EndTurn();
  turn_clock_.EndPart(TurnPart::kLog);
  SendOutput(logged);
  turn_clock_.EndPart(TurnPart::kReplies);
  turn_clock_.End();
}

void Server::SendOutput(const absl::Status& logged) {
  if (!logged.ok()) client_output_.DropUnlogged();
  client_output_.Flush();
  if (connections_.EraseClosed()) listeners_.Wake();
  listeners_.AcceptWaiting();
}

bool Server::ServeOthers() {
  poller_.Poll(true);
  queue_.ServeInside();
  const absl::Status logged = persistence_.FlushFinished();
  replicas_.EndTurn();
  SendOutput(logged);
  return !end_.asked();
}

void Server::LoadSome() {
  const absl::Status status = persistence_.LoadSlice(kLoadMicros);
  if (!status.ok()) {
    log_.Warning("Cannot start: ", std::string(status.message()));
    end_.FailToStart();
  } else if (serves_) {
    // What a primary has sent is loaded.
  } else if (!state_.services.loading) {
    BeginServing();
  } else {
    supervisor_.Loading(Clock::MonotonicMicros()).IgnoreError();
  }
}

void Server::BeginServing() {
  replicas_.BeginHistory();
  serves_ = true;
  PurgeInBackground(kPurgeWhileServing);
  log_.Notice("Ready to accept connections");
  const absl::Status status = supervisor_.Ready();
  if (!status.ok()) log_.Warning("systemd was not notified: ", std::string(status.message()));
}

absl::Status Server::Shutdown(bool force, EndSave save) { return end_.Ask(force, save); }

absl::Status Server::ApplyConfig(std::string_view name) {
  if (name == "notify-keyspace-events") {
    state_.key_events.set_classes(config_.notify_keyspace_events);
  }
  if (name == "maxmemory-policy" || name.starts_with("lfu-")) Evictor::ApplyConfig(state_.services);
  if (name == "loglevel") log_.set_level(config_.loglevel);
  if (name == "maxclients") return MakeRoomForClients(config_.maxclients);
  if (name == "client-output-buffer-limit") {
    state_.clients.ForEach([this](Client& client) { state_.clients.LimitOutput(client); });
  }
  for (const char* const port : {"bind", "port", "tls-port", "http-bind", "http-port"}) {
    if (name == port) return listeners_.UpdateAddresses();
  }
  if (name.starts_with("master") || name.starts_with("replica-unknown") ||
      name.starts_with("tls-")) {
    replica_.RetryNow();
  }
  if (name.starts_with("tls-")) return listeners_.ReloadTls();
  if (name == "appendonly" || name == "appendfsync") return persistence_.ApplyConfig();
  return absl::OkStatus();
}

}  // namespace tally::server
