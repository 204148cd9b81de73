// A socket and the session behind it: reads when there is something to read, writes when the turn
// ends.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "server/session.h"
#include "server/state/client.h"

namespace tally::server {

class Connection;

// What a connection asks of the loop it lives in.
class LoopTurn {
 public:
  // To be called before anything is done in a turn.
  virtual void Begin() = 0;
  // Where all connections read into, one after the other.
  virtual std::span<char> read_buffer() = 0;
  // Has Resume called in the next turn.
  virtual void ResumeLater(std::shared_ptr<Connection> connection) = 0;

 protected:
  ~LoopTurn() = default;
};

class Connection : public Transport, public std::enable_shared_from_this<Connection> {
 public:
  using Socket = asio::generic::stream_protocol::socket;

  Connection(Socket socket, LoopTurn& turn, ServerState& server, Dispatcher& dispatcher);

  Client& client() { return session_.client(); }
  void Start();

  void FlushOutput() override;
  void Close() override;
  // Runs a share of the commands that the turn before left.
  void Resume();
  bool closed() const { return closed_; }

 private:
  void WaitReadable();
  void OnReadable();
  void GoOn();
  void WaitWritable();

  Socket socket_;
  LoopTurn& turn_;
  ServerState& server_;
  Session session_;
  size_t sent_ = 0;  // of the client's output
  bool reading_ = false;
  bool resuming_ = false;  // stands in the loop's list
  bool writing_ = false;   // the peer takes no more at present
  bool closed_ = false;
};

}  // namespace tally::server
