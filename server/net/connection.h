// A socket and the conversation on it. The server reads from it when there is something to read,
// runs what was read, and has the output sent when the turn ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "server/interfaces/conversation.h"
#include "server/interfaces/services.h"
#include "server/net/event_poller.h"
#include "server/net/tls/stream.h"
#include "server/state/client.h"

namespace tally::server {

class Connection;

// The queue in which connections wait to be read and run.
class ConnectionQueue {
 public:
  // Adds a connection that has something to read or to run. It is served in this turn if the turn
  // has not begun to run commands yet, otherwise in the next turn.
  virtual void Enqueue(Connection& connection) = 0;

 protected:
  ~ConnectionQueue() = default;
};

// The owner of a connection.
class ConnectionOwner {
 public:
  // Called when the connection has closed its socket. The owner drops it when a turn ends in which
  // it is in no queue.
  virtual void Forget(Client& client) = 0;

 protected:
  ~ConnectionOwner() = default;
};

// The parts of the event loop that a connection uses.
struct ConnectionHost {
  ConnectionOwner& owner;
  ConnectionQueue& queue;
};

class Connection final : public Transport, public EventTarget {
 public:
  // `socket` is connected. The connection owns it and closes it. `ssl` is null for a connection
  // without TLS.
  Connection(int socket, SslPointer ssl, ConnectionHost host, Services& server,
             std::unique_ptr<Conversation> conversation);

  Client& client() { return client_; }
  const Client& client() const { return client_; }
  bool closed() const { return state().end.closed(); }

  // Called when the socket becomes readable or writable.
  void OnEvent(DescriptorEvent event) override;
  // Whether Read would find something, and may be called.
  bool wants_input() const { return state().WantsInput(); }
  // Reads once. The bytes stay in `into`, which must not change until Run or Hold, unless they
  // belong to a long argument: then they are read into its buffer.
  void Read(std::span<char> into);
  // The key of the request that was read, if it was only one, so that the keyspace can prefetch it.
  std::optional<std::string_view> first_key() const { return conversation_->first_key(); }
  // Gives the connection its turn: it leaves the queue, and runs what was just read or was left
  // from an earlier turn, within the share.
  void Run(const TurnShare& share);
  // Keeps what was read for a Run in a later turn.
  void Hold() { conversation_->Hold(); }
  // Whether its last Run took much of a turn.
  bool heavy() const { return conversation_->heavy(); }
  // Whether its peer sends no more.
  bool ending() const { return state().socket.state() == SocketInput::State::kEnding; }

  bool FlushOutput(size_t most) override;
  void Close() override;
  // Closes the connection if the peer has been silent for longer than is allowed.
  void LimitTime();
  // Closes the connection if more output waits for the peer than client-output-buffer-limit allows.
  void LimitOutput();

 private:
  ConnectionState& state() { return client().state; }
  const ConnectionState& state() const { return client().state; }
  void EnqueueIfReady();
  // Ends the connection if a command of the client waits and its peer sends no more.
  void EndIfNobodyWaits();
  Stream::Sent SendSome(size_t most);

  Stream stream_;
  const ConnectionHost host_;
  Services& server_;
  const std::unique_ptr<Conversation> conversation_;
  Client& client_;                        // owned by the conversation
  int64_t over_soft_limit_since_ms_ = 0;  // steady ms; 0: not over it
};

}  // namespace tally::server
