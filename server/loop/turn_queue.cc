#include "server/loop/turn_queue.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/engine/engine.h"
#include "server/state/clock.h"
#include "server/state/pause.h"

namespace tally::server {
namespace {

// The bounds of what one connection may take of a turn. Between them, a turn is divided among the
// connections that run in it.
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

}  // namespace

TurnQueue::TurnQueue(Services& server, const Dispatcher& dispatcher, int64_t (*now_us)())
    : server_(server),
      dispatcher_(dispatcher),
      now_us_(now_us),
      read_buffer_(kReadTogether * kReadStride) {}

void TurnQueue::Enqueue(Connection& connection) { queue_.push_back(&connection); }

// A command that CLIENT PAUSE postponed waits in the queue. A closed connection leaves it.
bool TurnQueue::MayRun(const Connection& connection) const {
  return !connection.client().state.command.postponed() || connection.closed() ||
         !server_.pause.active(server_.clock);
}

bool TurnQueue::HasWork() const {
  return std::ranges::any_of(queue_,
                             [this](const Connection* connection) { return MayRun(*connection); });
}

void TurnQueue::Serve() {
  SortIntoLanes();
  ServeLanes();
}

void TurnQueue::ServeInside() {
  // The buffer holds what was read for the connection of the caller and for those after it, so that
  // other reads need another buffer.
  std::vector<char> buffer(read_buffer_.size());
  buffer.swap(read_buffer_);
  ServeLanes();
  SortIntoLanes();
  ServeLanes();
  buffer.swap(read_buffer_);
}

void TurnQueue::SortIntoLanes() {
  size_t waiting = 0;
  for (Connection* const connection : queue_) {
    if (MayRun(*connection)) {
      const bool waits = connection->heavy() || connection->ending();
      (waits ? heavy_ : light_).connections.push_back(connection);
    } else {
      queue_[waiting++] = connection;
    }
  }
  queue_.resize(waiting);
}

// While a busy script runs, this is called again from inside the script's own Run, and serves the
// rest of the turn.
void TurnQueue::ServeLanes() {
  budget_.Begin(now_us_());
  const size_t count = light_.connections.size() + heavy_.connections.size();
  const TurnShare share = ShareAmong(std::max<size_t>(count, 1));
  ServeLane(light_, kReadTogether, share);
  ServeLane(heavy_, 1, share);
}

void TurnQueue::ServeLane(Lane& lane, size_t together, const TurnShare& share) {
  bool served = false;
  while (lane.run < lane.connections.size() && !(served && budget_.used_up())) {
    if (lane.run == lane.read) {
      // What the group before cost is known only now if it ran no command.
      if (served) budget_.Spend(0, now_us_());
      ReadGroup(lane, together);
    }
    Connection& connection = *lane.connections[lane.run++];
    const size_t before = connection.client().output.size();
    connection.Run(share);
    const size_t after = connection.client().output.size();
    budget_.Spend(after - std::min(before, after), dispatcher_.last_micros());
    served = true;
  }
  RequeueRest(lane);
}

void TurnQueue::ReadGroup(Lane& lane, size_t together) {
  const auto group = std::span<Connection* const>(lane.connections)
                         .subspan(lane.read)
                         .first(std::min(together, lane.connections.size() - lane.read));
  for (size_t i = 0; i < group.size(); ++i) {
    if (group[i]->wants_input()) group[i]->Read({&read_buffer_[i * kReadStride], kReadBytes});
  }
  FetchKeys(group);
  lane.read += group.size();
}

void TurnQueue::FetchKeys(std::span<Connection* const> connections) {
  if (connections.size() < 2) return;
  std::array<std::string_view, kReadTogether> keys;
  size_t count = 0;
  const size_t database = connections.front()->client().database;
  for (const Connection* connection : connections) {
    if (connection->client().database != database) continue;
    if (const auto key = connection->first_key()) keys[count++] = *key;
  }
  server_.engine.database(database).Prefetch({keys.data(), count});
}

// Connections that did not run in this turn go first in the next one.
void TurnQueue::RequeueRest(Lane& lane) {
  const auto rest = lane.connections.begin() + static_cast<ptrdiff_t>(lane.run);
  for (; lane.run < lane.read; ++lane.run) lane.connections[lane.run]->Hold();
  queue_.insert(queue_.begin(), rest, lane.connections.end());
  lane.connections.clear();
  lane.read = lane.run = 0;
}

}  // namespace tally::server
