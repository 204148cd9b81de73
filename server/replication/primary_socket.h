// The socket to a primary: finds its address, connects, with TLS if that is asked for, then carries
// bytes both ways. No call waits.
#pragma once

#include <absl/status/status.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/net/event_poller.h"
#include "server/net/tls/stream.h"
#include "server/net/tls/tls_context.h"

namespace tally::server {

// Begins to connect a socket that never blocks. Returns -1, and errno, if it cannot.
using Dial = std::function<int(const asio::ip::tcp::endpoint& to)>;
int DialTcp(const asio::ip::tcp::endpoint& to);

class PrimarySocket final : private EventTarget {
 public:
  explicit PrimarySocket(EventPoller& poller, Dial dial = DialTcp)
      : poller_(poller), dial_(std::move(dial)) {}

  // Begins to connect. `tls` is null for a connection without TLS.
  void Open(const std::string& host, int64_t port, std::unique_ptr<TlsContext> tls);
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
  std::string LocalAddress() const;

 private:
  void OnEvent(DescriptorEvent event) override;
  void Found(const std::vector<asio::ip::tcp::endpoint>& endpoints);
  // Begins to connect to the next endpoint. Returns the last error if there is none left.
  absl::Status TryNext();
  absl::Status FinishConnecting();

  EventPoller& poller_;
  const Dial dial_;
  State state_ = State::kClosed;
  bool event_ = false;     // since Continue, Read or Flush were last called
  bool writable_ = false;  // unless the peer takes no more
  std::unique_ptr<TlsContext> tls_;
  std::string output_;
  int connecting_ = -1;  // the socket while it is being connected
  std::unique_ptr<Stream> stream_;
  std::vector<asio::ip::tcp::endpoint> endpoints_;
  size_t next_endpoint_ = 0;
  absl::Status last_error_;

  // A name is looked up by a thread of Asio. A new search does not wait for one that was given up.
  asio::io_context io_;
  std::unique_ptr<asio::ip::tcp::resolver> resolver_;
  uint64_t search_ = 0;
};

}  // namespace tally::server
