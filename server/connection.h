// A socket and the conversation on it. The server reads for it when there is something to read,
// runs what came, and has the output sent when the turn ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "server/state/client.h"
#include "server/state/conversation.h"
#include "server/state/services.h"
#include "server/tls/stream.h"

namespace tally::server {

class Connection;

// Where a connection waits to be read and run.
class ConnectionQueue {
 public:
  // The connection has something to read or to run: in this turn if its commands have not begun
  // to run yet, else in the next.
  virtual void Enqueue(std::shared_ptr<Connection> connection) = 0;

 protected:
  ~ConnectionQueue() = default;
};

// Who keeps a connection.
class ConnectionOwner {
 public:
  // The connection has closed its socket, and may be forgotten when the turn ends.
  virtual void Forget(Client& client) = 0;

 protected:
  ~ConnectionOwner() = default;
};

// What a connection knows of the loop it lives in.
struct ConnectionHost {
  ConnectionOwner& owner;
  ConnectionQueue& queue;
};

class Connection final : public Transport, public std::enable_shared_from_this<Connection> {
 public:
  // `socket` is connected, and is the connection's to close; `ssl` is null for a plain one.
  Connection(int socket, SslPointer ssl, ConnectionHost host, Services& server,
             std::unique_ptr<Conversation> conversation);

  Client& client() { return client_; }
  const Client& client() const { return client_; }
  bool closed() const { return state().end.closed(); }

  // The socket became readable, or writable; `hung_up` if its stream ends after what is there.
  void OnReady(bool readable, bool writable, bool hung_up);
  // Whether Read would find something, and may be called.
  bool wants_input() const { return state().WantsInput(); }
  // Reads once. What came stays in `into` until Run, or belongs to a long argument.
  void Read(std::span<char> into);
  // The key of a single request that was read, for the keyspace to fetch.
  std::optional<std::string_view> first_key() const { return conversation_->first_key(); }
  // Its turn, for which it leaves the queue: runs what was read, or what was left, within the
  // share.
  void Run(const TurnShare& share);
  // Keeps what was read for a Run in a later turn.
  void Hold() { conversation_->Hold(); }
  // Whether its last Run took much of a turn.
  bool heavy() const { return conversation_->heavy(); }

  bool FlushOutput(size_t most) override;
  void Close() override;
  // Closes when the peer has been silent for longer than it may be.
  void LimitTime();
  // Closes when more output waits for the peer than client-output-buffer-limit lets it.
  void LimitOutput();

 private:
  ConnectionState& state() { return client().state; }
  const ConnectionState& state() const { return client().state; }
  void GoOn();
  Stream::Sent SendSome(size_t most);

  Stream stream_;
  const ConnectionHost host_;
  Services& server_;
  const std::unique_ptr<Conversation> conversation_;
  Client& client_;                        // the conversation's
  int64_t over_soft_limit_since_ms_ = 0;  // 0: it is not
};

}  // namespace tally::server
