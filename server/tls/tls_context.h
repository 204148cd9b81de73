// What the TLS of all connections shares: certificate, key, and whom to trust.
#pragma once

#include <absl/status/statusor.h>
#include <openssl/ssl.h>

#include <memory>

#include "server/config/config.h"

namespace tally::server {

struct SslFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPointer = std::unique_ptr<SSL, SslFree>;

class TlsContext {
 public:
  // Reads the files that the tls directives name. TLS 1.2 and later.
  static absl::StatusOr<std::unique_ptr<TlsContext>> Create(const Config& config);

  // The server's side of a handshake that has not begun; null if there is no memory for it. It
  // keeps what it needs of the context.
  SslPointer Accept(int socket) const;

 private:
  explicit TlsContext(SSL_CTX* context) : context_(context) {}

  std::unique_ptr<SSL_CTX, SslFree> context_;
};

}  // namespace tally::server
