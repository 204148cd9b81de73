// A connected socket that never blocks: plain, or with TLS.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "server/net/tls/tls_context.h"

namespace tally::server {

class Stream {
 public:
  // Takes ownership of `socket`. `ssl` is null for a plain connection.
  explicit Stream(int socket, SslPointer ssl = nullptr) : socket_(socket), ssl_(std::move(ssl)) {}
  ~Stream() { Close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool closed() const { return socket_ < 0; }
  int socket() const { return socket_; }
  bool is_tls() const { return ssl_ != nullptr; }

  struct Received {
    size_t bytes = 0;
    // There is nothing more to read until the socket becomes readable again. (With TLS it may have
    // to become writable instead.)
    bool drained = false;
    bool ended = false;  // the peer has closed, or an error: nothing more will come
  };
  Received Read(std::span<char> into);

  struct Sent {
    size_t bytes = 0;
    bool full = false;  // nothing more until the socket is writable again (TLS: or readable)
    bool failed = false;
  };
  static constexpr size_t kMostPieces = 64;
  // Sends the pieces in their order, as far as the socket takes them: 1 to kMostPieces pieces.
  // After a call with `full`, the next call must give the same unsent bytes again; more may follow
  // them.
  Sent Write(std::span<const std::string_view> pieces);

  void Close();

 private:
  Received ReadTls(std::span<char> into);
  Sent WriteTls(std::span<const std::string_view> pieces);

  int socket_;
  SslPointer ssl_;
};

}  // namespace tally::server
