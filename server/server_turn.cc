// One turn of the loop: who has sent something is read and run, and then all are answered together.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "server/server.h"

namespace tally::server {
namespace {

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

}  // namespace

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

}  // namespace tally::server
