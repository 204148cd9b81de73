// What all TLS connections share: the certificate, the key and the trusted CAs.
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
  // Reads the files that the tls-* directives name; InvalidArgument if that fails. Only TLS 1.2 and
  // later are accepted.
  static absl::StatusOr<std::unique_ptr<TlsContext>> Create(const Config& config);

  // The same for connections to other servers, which show the same certificate if one is named.
  // Their certificates are verified by tls-ca-cert-file, or else by the CAs of the system.
  static absl::StatusOr<std::unique_ptr<TlsContext>> CreateForPeers(const Config& config);
  // The same, and any certificate of the other one is right: for what tells nothing secret.
  static absl::StatusOr<std::unique_ptr<TlsContext>> CreateForAnyPeer(const Config& config);

  // Returns the client's side of a connection; otherwise as Accept.
  SslPointer Connect(int socket) const;
  // Returns the server's side of a connection whose handshake has not begun; null if OpenSSL fails,
  // for example for lack of memory. It may outlive this object. It does not own the socket.
  SslPointer Accept(int socket) const;

 private:
  explicit TlsContext(SSL_CTX* context) : context_(context) {}
  SslPointer NewOn(int socket) const;

  std::unique_ptr<SSL_CTX, SslFree> context_;
};

// Whether what the tls-* directives name can be read. Without a TLS port only a certificate and a
// key that are both named are tried, because they may be set one after the other.
absl::Status CheckTls(const Config& config);

}  // namespace tally::server
