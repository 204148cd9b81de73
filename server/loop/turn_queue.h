// Decides which connections are read and run in a turn, in which order, and for how long. The work
// of all clients together must fit into the turn, and a client that asks for little must not wait
// for those that ask for much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "server/dispatch/dispatcher.h"
#include "server/interfaces/services.h"
#include "server/loop/turn_budget.h"
#include "server/net/connection.h"
#include "server/state/cycle_clock.h"

namespace tally::server {

class TurnQueue final : public ConnectionQueue {
 public:
  // `dispatcher` runs the commands: the queue asks it when the last one ended. `now_us` is asked
  // at the begin of a turn and between groups of connections.
  TurnQueue(Services& server, const Dispatcher& dispatcher, int64_t (*now_us)() = CycleMicros);

  void Enqueue(Connection& connection) override;
  // Whether a waiting connection may run now.
  bool HasWork() const;
  // Reads and runs the connections that may run now, until the budget of the turn is used up. The
  // rest goes first in the next turn.
  void Serve();
  // As Serve, but from inside a command of this turn, which goes on afterwards. Serves the rest of
  // this turn, and then the connections that have come meanwhile.
  void ServeInside();

 private:
  // The most bytes that one read takes from a socket.
  static constexpr size_t kReadBytes = 64 * 1024;
  // This many connections are read one after the other before their commands run, so that the cache
  // misses of their keys overlap.
  static constexpr size_t kReadTogether = 16;
  // The distance between two of these buffers. It is not a power of two, so that the beginnings of
  // the buffers do not compete for the same lines of the cache.
  static constexpr size_t kReadStride = kReadBytes + 320;

  // The connections of this turn. The first `read` of them have been read, and the first `run` have
  // been run.
  struct Lane {
    std::vector<Connection*> connections;
    size_t read = 0;
    size_t run = 0;
  };

  bool MayRun(const Connection& connection) const;
  // Moves the connections that may run now from the queue to the lanes.
  void SortIntoLanes();
  void ServeLanes();
  // Reads and runs the connections of the lane until the budget of the turn is used up, but at
  // least one connection. Reads `together` of them at a time.
  void ServeLane(Lane& lane, size_t together, const TurnShare& share);
  void ReadGroup(Lane& lane, size_t together);
  void FetchKeys(std::span<Connection* const> connections);
  void RequeueRest(Lane& lane);

  Services& server_;
  const Dispatcher& dispatcher_;
  int64_t (*const now_us_)();
  std::vector<Connection*> queue_;
  // The connections of this turn. Those that took much in their last Run, and those whose peers
  // have hung up, come after all others: thousands may hang up at once.
  Lane light_;
  Lane heavy_;
  TurnBudget budget_;
  std::vector<char> read_buffer_;
};

}  // namespace tally::server
