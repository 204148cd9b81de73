// A connected socket that never blocks, plain or with TLS on top.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "server/tls/tls_context.h"

namespace tally::server {

class Stream {
 public:
  // Owns the socket. `ssl` is null for a plain one.
  explicit Stream(int socket, SslPointer ssl = nullptr) : socket_(socket), ssl_(std::move(ssl)) {}
  ~Stream() { Close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool closed() const { return socket_ < 0; }
  bool is_tls() const { return ssl_ != nullptr; }

  struct Received {
    size_t bytes = 0;
    // Nothing more is there until the socket becomes readable again. (With TLS it may also have to
    // become writable.)
    bool drained = false;
    bool ended = false;  // nothing will ever come, or an error
  };
  Received Read(std::span<char> into);

  struct Sent {
    size_t bytes = 0;
    bool full = false;  // no more until the socket becomes writable again (or, TLS, readable)
    bool failed = false;
  };
  static constexpr size_t kMostPieces = 64;
  // Some of the pieces, in their order; at most kMostPieces. The bytes of a call that was full are
  // to be given again, and more may follow them.
  Sent Write(std::span<const std::string_view> pieces);

  void Close();

 private:
  Received ReadTls(std::span<char> into);
  Sent WriteTls(std::span<const std::string_view> pieces);

  int socket_;
  SslPointer ssl_;
};

}  // namespace tally::server
