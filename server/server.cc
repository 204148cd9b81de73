#include "server/server.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <random>
#include <utility>

#include "server/acl/acl_file.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

// Read at once from a socket.
constexpr size_t kReadBytes = 64 * 1024;
// So many connections are read one after the other before their commands run, for the cache misses
// of their keys to overlap.
constexpr size_t kReadTogether = 16;
// Keeps the beginnings of their buffers out of one another's cache lines.
constexpr size_t kReadStride = kReadBytes + 320;
// What loading takes of a turn, before clients are told LOADING.
constexpr int64_t kLoadMicros = 5000;
// What all connections together may take of a turn, and what one of them may: a request that has
// just come waits behind the shares of all others, however long their pipelines are.
constexpr int64_t kServeMicros = 4000;
constexpr int64_t kLeastShareMicros = 50;
constexpr int64_t kMostShareMicros = 1000;
constexpr size_t kOutputBytes = size_t{2} << 20;
constexpr size_t kLeastOutputBytes = 16 * 1024;
constexpr size_t kMostOutputBytes = 64 * 1024;

TurnShare ShareAmong(size_t clients) {
  const auto count = static_cast<int64_t>(clients);
  return {.micros = std::clamp(kServeMicros / count, kLeastShareMicros, kMostShareMicros),
          .output_bytes = std::clamp(kOutputBytes / clients, kLeastOutputBytes, kMostOutputBytes)};
}

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

Server::Server(Config& config, Logger& log, const std::string& config_path)
    : config_(config),
      log_(log),
      commands_(CommandFamilies(config.scripting)),
      engine_(static_cast<size_t>(config.databases), RandomSeed()),
      state_(commands_, engine_, config, log),
      dispatcher_(state_),
      persistence_(state_, dispatcher_, files_),
      io_(ASIO_CONCURRENCY_HINT_1),
      signals_(io_),
      cron_(io_),
      slice_(io_),
      ready_descriptor_(io_, ReadySet::Create()),
      ready_set_(ready_descriptor_.native_handle()),
      read_buffer_(kReadTogether * kReadStride) {
  state_.persistence = &persistence_;
  state_.process = this;
  state_.runner = &dispatcher_;
  state_.run_id = RandomHex(40);
  state_.config_path = config_path;
  engine_.set_observer(this);
}

Server::~Server() {
  connections_.clear();
  engine_.set_observer(nullptr);
}

absl::Status Server::Start() {
  state_.clock.Tick();
  started_ms_ = state_.clock.now_ms();
  state_.key_events.set_classes(config_.notify_keyspace_events);
  if (absl::Status status = LoadUsers(); !status.ok()) return status;
  state_.evictor.ApplyConfig();
  if (absl::Status status = persistence_.Open(); !status.ok()) return status;
  if (absl::Status status = Listen(); !status.ok()) return status;
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is a write that fails
  WaitForSignal();
  WaitForCron();
  return absl::OkStatus();
}

absl::Status Server::LoadUsers() {
  if (config_.aclfile.empty()) {
    const std::string error = state_.users.SetFromConfig(config_.users);
    return error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(error);
  }
  if (!config_.users.empty()) {
    return absl::InvalidArgumentError(
        "users stand either in the configuration or in aclfile, not in both");
  }
  return LoadAclFile(config_.aclfile, state_.users);
}

int Server::Run() {
  if (!state_.loading) log_.Notice("Ready to accept connections");
  while (!stopping_) {
    if (!waiting_) WaitForReady();
    if (HasWork() || state_.loading || SliceIsDue()) {
      io_.poll_one();
    } else {
      io_.run_one();
    }
    Begin();
    TakeQueue();
    ServeTurn();
    if (state_.loading) LoadSome();
    EndTurn();
  }
  if (load_failed_) return 1;
  FlushClients();
  const absl::Status status = persistence_.Close();
  if (!status.ok()) {
    log_.Warning("The append-only file could not be closed: ", std::string(status.message()));
    return 1;
  }
  log_.Notice("tallyd is now ready to exit, bye bye...");
  return 0;
}

void Server::Begin() {
  if (in_turn_) return;
  in_turn_ = true;
  state_.clock.Tick();
}

// Armed again in the next turn only, so that each turn answers before it looks for more.
void Server::WaitForReady() {
  waiting_ = true;
  ready_descriptor_.async_wait(
      asio::posix::stream_descriptor::wait_read, [this](const std::error_code& error) {
        waiting_ = false;
        if (error) return;
        for (const ReadySet::Ready& ready : ready_set_.Take()) {
          ready.connection->OnReady(ready.readable, ready.writable, ready.hung_up);
        }
      });
}

void Server::Enqueue(std::shared_ptr<Connection> connection) {
  queue_.push_back(std::move(connection));
}

void Server::Forget(Client& client) { closed_.push_back(&client); }

// A command that CLIENT PAUSE postponed waits in the queue.
bool Server::MayRun(const Connection& connection) const {
  return !connection.client().postponed || state_.pause.until_ms <= state_.clock.now_ms();
}

bool Server::HasWork() const {
  if (state_.evictor.behind() || !engine_.reclaimer().empty()) return true;
  return std::any_of(queue_.begin(), queue_.end(),
                     [this](const auto& connection) { return MayRun(*connection); });
}

bool Server::SliceIsDue() {
  const auto micros = persistence_.NextSliceInMicros();
  if (micros == 0) return true;
  if (micros && !slice_awaited_) {
    slice_awaited_ = true;
    slice_.expires_after(std::chrono::microseconds(*micros));
    slice_.async_wait([this](const std::error_code&) {
      slice_awaited_ = false;
      io_.poll_one();  // for requests that have come too: the slice is for turns without
    });
  }
  return false;
}

void Server::TakeQueue() {
  turn_.swap(queue_);
  const auto served = std::partition(
      turn_.begin(), turn_.end(), [this](const auto& connection) { return MayRun(*connection); });
  queue_.assign(std::make_move_iterator(served), std::make_move_iterator(turn_.end()));
  turn_.erase(served, turn_.end());
  for (const auto& connection : turn_) connection->LeaveQueue();
}

// A busy script has the rest of its turn served from inside its own Run.
void Server::ServeTurn() {
  const TurnShare share = ShareAmong(std::max<size_t>(turn_.size(), 1));
  while (run_ < turn_.size()) {
    if (run_ == read_) ReadGroup();
    const std::shared_ptr<Connection> connection = std::move(turn_[run_++]);
    connection->Run(share);
  }
  turn_.clear();
  read_ = run_ = 0;
}

void Server::ReadGroup() {
  const auto group = std::span<const std::shared_ptr<Connection>>(turn_).subspan(read_).first(
      std::min(kReadTogether, turn_.size() - read_));
  for (size_t i = 0; i < group.size(); ++i) {
    if (group[i]->wants_input()) group[i]->Read({&read_buffer_[i * kReadStride], kReadBytes});
  }
  FetchKeys(group);
  read_ += group.size();
}

bool Server::ServeOthers() {
  // What has been read of the script's client, and of those that follow it, stands in the buffer.
  std::vector<char> buffer(read_buffer_.size());
  buffer.swap(read_buffer_);
  if (!waiting_) WaitForReady();
  io_.poll_one();
  ServeTurn();
  TakeQueue();
  ServeTurn();
  if (!persistence_.FlushFinished().ok()) CloseUnlogged();
  FlushClients();
  EraseClosed();
  buffer.swap(read_buffer_);
  return !stopping_;
}

void Server::FetchKeys(std::span<const std::shared_ptr<Connection>> connections) {
  if (connections.size() < 2) return;
  std::array<std::string_view, kReadTogether> keys;
  size_t count = 0;
  const size_t database = connections.front()->client().database;
  for (const auto& connection : connections) {
    if (connection->client().database != database) continue;
    if (const auto key = connection->first_key()) keys[count++] = *key;
  }
  engine_.database(database).Prefetch({keys.data(), count});
}

void Server::EndTurn() {
  Housekeeping();
  FlushLog();
  FlushClients();
  EraseClosed();
  in_turn_ = false;
}

void Server::LoadSome() {
  const absl::Status status = persistence_.LoadSlice(kLoadMicros);
  if (!status.ok()) {
    log_.Warning("Cannot start: ", std::string(status.message()));
    stopping_ = load_failed_ = true;
  } else if (!state_.loading) {
    log_.Notice("Ready to accept connections");
  }
}

void Server::FlushLog() {
  if (!persistence_.FlushTurn().ok()) CloseUnlogged();
}

// What could not be logged must not be acknowledged: those who wrote lose their connection, and
// with it the replies of this turn.
void Server::CloseUnlogged() {
  state_.clients.ForEach([&](Client& client) {
    if (!client.wrote || client.running || client.transport == nullptr) return;
    client.output.clear();
    client.close_after_reply = true;
    state_.clients.MarkPending(client);
  });
}

void Server::FlushClients() {
  for (Client* client : state_.clients.TakePending()) {
    if (client->running) continue;  // It is marked again when what it runs has ended.
    client->wrote = false;
    client->transport->FlushOutput();
  }
}

void Server::EraseClosed() {
  for (Client* client : std::exchange(closed_, {})) connections_.erase(client);
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

absl::Status Server::Shutdown(bool force) {
  if (!force && !persistence_.write_error().ok()) {
    return absl::FailedPreconditionError("Errors trying to SHUTDOWN. Check logs.");
  }
  stopping_ = true;
  return absl::OkStatus();
}

absl::Status Server::ApplyConfig(std::string_view name) {
  if (name == "notify-keyspace-events") {
    state_.key_events.set_classes(config_.notify_keyspace_events);
  }
  if (name == "maxmemory-policy" || name.starts_with("lfu-")) state_.evictor.ApplyConfig();
  if (name == "loglevel") log_.set_level(config_.loglevel);
  if (name.starts_with("tls-") && tls_ != nullptr) return LoadTls();
  if (name == "appendonly" || name == "appendfsync") return persistence_.ApplyConfig();
  return absl::OkStatus();
}

void Server::WaitForSignal() {
  signals_.async_wait([this](const std::error_code& error, int signal) {
    if (error) return;
    Begin();
    log_.Notice("Received ", signal == SIGINT ? "SIGINT" : "SIGTERM", " scheduling shutdown...");
    stopping_ = true;
  });
}

}  // namespace tally::server
