// One turn of the loop: who has sent something is read and run, and then all are answered together.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "server/server.h"

namespace tally::server {
namespace {

// What one connection may take of a turn, in which so many run.
constexpr int64_t kLeastShareMicros = 50;
constexpr int64_t kMostShareMicros = 1000;
constexpr size_t kLeastOutputBytes = 16 * 1024;
constexpr size_t kMostOutputBytes = 64 * 1024;

TurnShare ShareAmong(size_t clients) {
  const auto count = static_cast<int64_t>(clients);
  return {.micros = std::clamp(TurnBudget::kMicros / count, kLeastShareMicros, kMostShareMicros),
          .output_bytes =
              std::clamp(TurnBudget::kBytes / clients, kLeastOutputBytes, kMostOutputBytes)};
}

// Handlers of timers and new connections that one turn runs.
constexpr int kMostHandlers = 64;

}  // namespace

// Armed again in the next turn only, so that each turn answers before it looks for more.
void Server::WaitForReady() {
  waiting_ = true;
  ready_descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                               [this](const std::error_code& error) {
                                 waiting_ = false;
                                 if (!error) TakeReady();
                               });
}

void Server::TakeReady() {
  for (const ReadySet::Ready& ready : ready_set_.Take()) {
    ready.connection->OnReady(ready.readable, ready.writable, ready.hung_up);
  }
}

void Server::Poll(bool has_work) {
  if (!waiting_) WaitForReady();
  if (!has_work) {
    io_.run_one();
    return;
  }
  for (int i = 0; i < kMostHandlers && io_.poll_one() > 0; ++i) {
  }
  // The handlers may have been others': who has sent a request waits for no second turn.
  TakeReady();
}

void Server::Enqueue(std::shared_ptr<Connection> connection) {
  queue_.push_back(std::move(connection));
}

// A command that CLIENT PAUSE postponed waits in the queue.
bool Server::MayRun(const Connection& connection) const {
  return !connection.client().postponed || state_.pause.until_ms <= state_.clock.now_ms();
}

bool Server::HasWork() const {
  if (data_upkeep_.HasWork() || state_.clients.has_pending()) return true;
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
      TakeReady();  // requests that have come too: the slice is for turns without
    });
  }
  return false;
}

void Server::TakeQueue() {
  size_t waiting = 0;
  for (std::shared_ptr<Connection>& connection : queue_) {
    if (MayRun(*connection)) {
      (connection->heavy() ? heavy_ : light_).connections.push_back(std::move(connection));
    } else {
      std::swap(queue_[waiting++], connection);
    }
  }
  queue_.resize(waiting);
}

// A busy script has the rest of its turn served from inside its own Run.
void Server::ServeTurn() {
  budget_.Begin(Clock::MonotonicMicros());
  const size_t count = light_.connections.size() + heavy_.connections.size();
  const TurnShare share = ShareAmong(std::max<size_t>(count, 1));
  ServeLane(light_, kReadTogether, share);
  ServeLane(heavy_, 1, share);
}

void Server::ServeLane(Lane& lane, size_t together, const TurnShare& share) {
  bool served = false;
  while (lane.run < lane.connections.size() && !(served && budget_.used_up())) {
    if (lane.run == lane.read) ReadGroup(lane, together);
    const std::shared_ptr<Connection> connection = std::move(lane.connections[lane.run++]);
    connection->LeaveQueue();
    const size_t before = connection->client().output.size();
    connection->Run(share);
    const size_t after = connection->client().output.size();
    budget_.Spend(after - std::min(before, after), dispatcher_.last_micros());
    served = true;
  }
  LeaveRest(lane);
}

// Who got nothing of this turn goes first in the next.
void Server::LeaveRest(Lane& lane) {
  const auto rest = lane.connections.begin() + static_cast<ptrdiff_t>(lane.run);
  for (; lane.run < lane.read; ++lane.run) lane.connections[lane.run]->Hold();
  queue_.insert(queue_.begin(), std::make_move_iterator(rest),
                std::make_move_iterator(lane.connections.end()));
  lane.connections.clear();
  lane.read = lane.run = 0;
}

void Server::ReadGroup(Lane& lane, size_t together) {
  const auto group = std::span<const std::shared_ptr<Connection>>(lane.connections)
                         .subspan(lane.read)
                         .first(std::min(together, lane.connections.size() - lane.read));
  for (size_t i = 0; i < group.size(); ++i) {
    if (group[i]->wants_input()) group[i]->Read({&read_buffer_[i * kReadStride], kReadBytes});
  }
  FetchKeys(group);
  lane.read += group.size();
}

bool Server::ServeOthers() {
  // What has been read of the script's client, and of those that follow it, stands in the buffer.
  std::vector<char> buffer(read_buffer_.size());
  buffer.swap(read_buffer_);
  Poll(true);
  ServeTurn();
  TakeQueue();
  ServeTurn();
  if (!persistence_.FlushFinished().ok()) client_output_.DropUnlogged();
  client_output_.Flush();
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
  data_upkeep_.Slice();
  FlushLog();
  client_output_.Flush();
  EraseClosed();
  turn_clock_.End();
}

void Server::FlushLog() {
  if (!persistence_.FlushTurn().ok()) client_output_.DropUnlogged();
}

void Server::EraseClosed() {
  if (connections_.EraseClosed()) listeners_.Wake();
}

}  // namespace tally::server
