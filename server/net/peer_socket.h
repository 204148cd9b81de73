// The socket to another server: finds its address, connects, with TLS if that is asked for, then
// carries bytes both ways. No call waits.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/net/event_poller.h"
#include "server/net/name_search.h"
#include "server/net/socket_address.h"
#include "server/net/tls/stream.h"
#include "server/net/tls/tls_context.h"

namespace tally::server {

// Begins to connect a socket that never blocks. Returns -1, and errno, if it cannot.
using Dial = std::function<int(const SocketAddress& to)>;
int DialSocket(const SocketAddress& to);

class PeerSocket final : private EventTarget {
 public:
  explicit PeerSocket(EventPoller& poller, Dial dial = DialSocket)
      : poller_(poller), dial_(std::move(dial)) {}

  // Begins to connect. `tls` is null for a connection without TLS.
  void Open(const std::string& host, int64_t port, std::unique_ptr<TlsContext> tls);
  void Open(const SocketAddress& address, std::unique_ptr<TlsContext> tls);
  // Drops the connection, and what was to be sent.
  void Close();

  enum class State : uint8_t { kClosed, kFinding, kConnecting, kConnected };
  State state() const { return state_; }
  // Goes on connecting; to be called now and then, and when HasEvent. Returns why it failed: then
  // the socket is closed.
  absl::Status Continue();
  // Whether Continue, Read or Flush have something to do.
  bool HasEvent() const { return event_ && state_ != State::kClosed; }

  // Requires kConnected, as all that follows.
  Stream::Received Read(std::span<char> into);
  void Send(std::string_view bytes) { output_ += bytes; }
  bool has_output() const { return !output_.empty(); }
  // Sends what the peer takes now. Returns false if the connection is broken.
  bool Flush();
  // The address of this end, as CLIENT LIST of the other one shows it.
  std::string LocalAddress() const { return SocketAddress::LocalOf(stream_->socket()).text(); }

 private:
  void OnEvent(DescriptorEvent event) override;
  void Begin(std::unique_ptr<TlsContext> tls, State state);
  void TakeFound();
  // Begins to connect to the next address. Returns the last error if there is none left.
  absl::Status TryNext();
  absl::Status FinishConnecting();

  EventPoller& poller_;
  const Dial dial_;
  State state_ = State::kClosed;
  bool event_ = false;     // since Continue, Read or Flush were last called
  bool writable_ = false;  // unless the peer takes no more
  bool hung_up_ = false;   // what is left to read ends with the end of the stream
  std::unique_ptr<TlsContext> tls_;
  std::string output_;
  int connecting_ = -1;  // the socket while it is being connected
  std::unique_ptr<Stream> stream_;
  std::string name_;  // that is searched for
  std::optional<NameSearch> search_;
  std::vector<SocketAddress> addresses_;
  size_t next_address_ = 0;
  absl::Status last_error_;
};

}  // namespace tally::server
