#include "server/server.h"

#include <absl/strings/str_format.h>

#include <csignal>
#include <random>

#include "server/acl/acl_file.h"
#include "server/admin/families.h"
#include "server/descriptors.h"

namespace tally::server {
namespace {

// What loading takes of a turn, before clients are told LOADING.
constexpr int64_t kLoadMicros = 5000;

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
      dispatcher_(state_),
      persistence_(state_, dispatcher_, files_),
      io_(ASIO_CONCURRENCY_HINT_1),
      signals_(io_),
      slice_(io_),
      ready_descriptor_(io_, ReadySet::Create()),
      ready_set_(ready_descriptor_.native_handle()),
      turn_clock_(state_.clock),
      connections_(state_, dispatcher_, *this, ready_set_),
      listeners_(io_, state_, connections_, turn_clock_),
      client_output_(state_.clients, state_.stats),
      data_upkeep_(state_),
      client_limits_(state_, connections_),
      periodic_work_(io_, state_, turn_clock_,
                     {.persistence = persistence_,
                      .data = data_upkeep_,
                      .clients = client_limits_,
                      .listeners = listeners_}),
      read_buffer_(kReadTogether * kReadStride) {
  state_.persistence = &persistence_;
  state_.process = this;
  state_.runner = &dispatcher_;
  state_.run_id = RandomHex(40);
  state_.config_path = config_path;
  engine_.set_observer(this);
}

Server::~Server() { engine_.set_observer(nullptr); }

absl::Status Server::Start() {
  state_.clock.Tick();
  started_ms_ = state_.clock.now_ms();
  state_.key_events.set_classes(config_.notify_keyspace_events);
  if (absl::Status status = LoadUsers(); !status.ok()) return status;
  state_.evictor.ApplyConfig();
  if (absl::Status status = persistence_.Open(); !status.ok()) return status;
  if (absl::Status status = listeners_.Open(); !status.ok()) return status;
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  signals_.add(SIGHUP);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is a write that fails
  WaitForSignal();
  periodic_work_.Start();
  return absl::OkStatus();
}

absl::Status Server::LoadUsers() {
  if (config_.aclfile.empty()) {
    const std::string error = state_.users.SetFromConfig(config_.users);
    config_.users.clear();
    return error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(error);
  }
  if (!config_.users.empty()) {
    return absl::InvalidArgumentError(
        "users stand either in the configuration or in aclfile, not in both");
  }
  return LoadAclFile(config_.aclfile, state_.users);
}

int Server::Run() {
  if (!state_.loading) BeginServing();
  while (!HasEnded()) {
    Poll(HasWork() || state_.loading || SliceIsDue());
    turn_clock_.Begin();
    TakeQueue();
    ServeTurn();
    if (state_.loading) LoadSome();
    EndTurn();
  }
  if (load_failed_) return 1;
  client_output_.Flush();
  const absl::Status status = persistence_.Close();
  if (!status.ok()) {
    log_.Warning("The append-only file could not be closed: ", std::string(status.message()));
    return 1;
  }
  log_.Notice("tallyd is now ready to exit, bye bye...");
  return 0;
}

// What cannot be saved is not given up: the server goes on, as redis-server does.
bool Server::HasEnded() {
  if (!stopping_) return false;
  supervisor_.Stopping().IgnoreError();
  if (load_failed_ || !save_at_end_) return true;
  const absl::Status status = persistence_.SaveAtEnd();
  if (status.ok() || end_is_forced_) return true;
  log_.Warning("The data cannot be saved, so the server goes on; SHUTDOWN NOSAVE ends it: ",
               std::string(status.message()));
  supervisor_.Ready().IgnoreError();
  stopping_ = false;
  return false;
}

void Server::LoadSome() {
  const absl::Status status = persistence_.LoadSlice(kLoadMicros);
  if (!status.ok()) {
    log_.Warning("Cannot start: ", std::string(status.message()));
    stopping_ = load_failed_ = true;
  } else if (!state_.loading) {
    BeginServing();
  } else {
    supervisor_.Loading(Clock::MonotonicMicros()).IgnoreError();
  }
}

void Server::BeginServing() {
  log_.Notice("Ready to accept connections");
  const absl::Status status = supervisor_.Ready();
  if (!status.ok()) log_.Warning("systemd was not told: ", std::string(status.message()));
}

void Server::OnExpired(Keyspace& keyspace, std::string_view key) {
  const size_t database = engine_.IndexOf(keyspace);
  ++state_.stats.expired_keys;
  state_.effects.Append(database, {"DEL", key});
  state_.key_events.Expired(database, key);
}

void Server::OnCreated(Keyspace& keyspace, std::string_view key) {
  if (!state_.key_events.wants(kEventNew)) return;
  state_.key_events.Notify(kEventNew, "new", engine_.IndexOf(keyspace), key);
}

void Server::BeforeChange(Keyspace& keyspace, Keyspace::Segment& segment, std::string_view key,
                          const Keyspace::Entry& entry) {
  persistence_.SaveBeforeChange(engine_.IndexOf(keyspace), segment, key, entry);
}

bool Server::KeepValue(Type, void* value) { return persistence_.KeepValue(value); }

absl::Status Server::Shutdown(bool force, bool save) {
  if (!force && !persistence_.write_error().ok()) {
    return absl::FailedPreconditionError("Errors trying to SHUTDOWN. Check logs.");
  }
  stopping_ = true;
  save_at_end_ = save && state_.stats.changes_since_save > 0;
  end_is_forced_ = force;
  return absl::OkStatus();
}

absl::Status Server::ApplyConfig(std::string_view name) {
  if (name == "notify-keyspace-events") {
    state_.key_events.set_classes(config_.notify_keyspace_events);
  }
  if (name == "maxmemory-policy" || name.starts_with("lfu-")) state_.evictor.ApplyConfig();
  if (name == "loglevel") log_.set_level(config_.loglevel);
  if (name == "maxclients") return MakeRoomForClients(config_.maxclients);
  if (name == "client-output-buffer-limit") {
    state_.clients.ForEach([this](Client& client) { state_.clients.LimitOutput(client); });
  }
  if (name.starts_with("tls-")) return listeners_.ReloadTls();
  if (name == "appendonly" || name == "appendfsync") return persistence_.ApplyConfig();
  return absl::OkStatus();
}

void Server::WaitForSignal() {
  signals_.async_wait([this](const std::error_code& error, int signal) {
    if (error) return;
    WaitForSignal();
    turn_clock_.Begin();
    if (signal == SIGHUP) return ReopenLog();
    log_.Notice("Received ", signal == SIGINT ? "SIGINT" : "SIGTERM", " scheduling shutdown...");
    stopping_ = true;
    // A busy script has done the half of something.
    save_at_end_ = !state_.script_busy;
    end_is_forced_ = false;
  });
}

// After logrotate has renamed it. That is all that SIGHUP does: a terminal that goes away sends it.
void Server::ReopenLog() {
  const absl::Status status = log_.Reopen();
  if (status.ok()) return log_.Notice("Received SIGHUP, the log file is open again");
  log_.Warning("Received SIGHUP: ", std::string(status.message()));
}

}  // namespace tally::server
