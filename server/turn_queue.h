// Says who is read and run in a turn, in which order, and for how long: so that the work of all
// clients together fits in the turn, and whoever asks for little does not wait for those who ask
// for much.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "server/connection.h"
#include "server/dispatcher.h"
#include "server/state/services.h"
#include "server/turn_budget.h"

namespace tally::server {

class TurnQueue final : public ConnectionQueue {
 public:
  // Commands run by `dispatcher`.
  TurnQueue(Services& server, const Dispatcher& dispatcher);

  void Enqueue(std::shared_ptr<Connection> connection) override;
  // Whether one of those that wait may run now.
  bool HasWork() const;
  // Reads and runs those that may run now, as far as the turn's budget reaches. The rest goes first
  // in the next turn.
  void Serve();
  // The same from inside a command of this turn, which goes on afterwards: the rest of the turn,
  // and those that have come meanwhile.
  void ServeInside();

 private:
  // Read at once from a socket.
  static constexpr size_t kReadBytes = 64 * 1024;
  // This many connections are read one after the other before their commands run, for the cache
  // misses of their keys to overlap.
  static constexpr size_t kReadTogether = 16;
  // Keeps the beginnings of their buffers out of one another's cache lines.
  static constexpr size_t kReadStride = kReadBytes + 320;

  // Connections that get this turn: the first `run` of them have been run, the first `read` read.
  struct Lane {
    std::vector<std::shared_ptr<Connection>> connections;
    size_t read = 0;
    size_t run = 0;
  };

  bool MayRun(const Connection& connection) const;
  // Those in the queue that may run now get this turn.
  void FillLanes();
  void ServeLanes();
  // Reads and runs what the connections of the lane have, `together` at a time, as far as the
  // turn's budget reaches, but at least one.
  void ServeLane(Lane& lane, size_t together, const TurnShare& share);
  void ReadGroup(Lane& lane, size_t together);
  void FetchKeys(std::span<const std::shared_ptr<Connection>> connections);
  void LeaveRest(Lane& lane);

  Services& server_;
  const Dispatcher& dispatcher_;
  std::vector<std::shared_ptr<Connection>> queue_;
  // Those of this turn; who took much when it last ran comes after all others.
  Lane light_;
  Lane heavy_;
  TurnBudget budget_;
  std::vector<char> read_buffer_;
};

}  // namespace tally::server
