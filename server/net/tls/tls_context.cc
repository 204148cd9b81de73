#include "server/net/tls/tls_context.h"

#include <absl/strings/str_cat.h>
#include <openssl/err.h>

#include <algorithm>
#include <string>

namespace tally::server {
namespace {

absl::Status Failed(const std::string& what) {
  char reason[256] = "";
  ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", reason));
}

int GivePassword(char* buffer, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  const size_t length = std::min(text.size(), static_cast<size_t>(size));
  std::copy_n(text.data(), length, buffer);
  return static_cast<int>(length);
}

int VerifyModeOf(TlsClientAuth auth) {
  switch (auth) {
    case TlsClientAuth::kNo:
      return SSL_VERIFY_NONE;
    case TlsClientAuth::kOptional:
      return SSL_VERIFY_PEER;
    case TlsClientAuth::kYes:
      break;
  }
  return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

absl::Status LoadCertificate(SSL_CTX* context, const Config& config) {
  if (config.tls_cert_file.empty()) return absl::InvalidArgumentError("no tls-cert-file");
  if (config.tls_key_file.empty()) return absl::InvalidArgumentError("no tls-key-file");
  std::string password = config.tls_key_file_pass;
  SSL_CTX_set_default_passwd_cb(context, GivePassword);
  SSL_CTX_set_default_passwd_cb_userdata(context, &password);
  absl::Status status;
  if (SSL_CTX_use_certificate_chain_file(context, config.tls_cert_file.c_str()) != 1) {
    status = Failed(absl::StrCat("tls-cert-file ", config.tls_cert_file));
  } else if (SSL_CTX_use_PrivateKey_file(context, config.tls_key_file.c_str(), SSL_FILETYPE_PEM) !=
             1) {
    status = Failed(absl::StrCat("tls-key-file ", config.tls_key_file));
  }
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  return status;
}

absl::Status LoadTrust(SSL_CTX* context, const Config& config) {
  SSL_CTX_set_verify(context, VerifyModeOf(config.tls_auth_clients), nullptr);
  if (config.tls_ca_cert_file.empty()) {
    if (config.tls_auth_clients == TlsClientAuth::kNo) return absl::OkStatus();
    return absl::InvalidArgumentError("tls-auth-clients takes a tls-ca-cert-file");
  }
  const char* file = config.tls_ca_cert_file.c_str();
  if (SSL_CTX_load_verify_locations(context, file, nullptr) != 1) {
    return Failed(absl::StrCat("tls-ca-cert-file ", config.tls_ca_cert_file));
  }
  SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file));
  return absl::OkStatus();
}

// What holds for both sides of a connection.
void SetCommon(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Output is sent as far as the socket takes it (partial writes), from a buffer that may grow and
  // move between two calls.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsContext>> TlsContext::Create(const Config& config) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  if (context == nullptr) return Failed("TLS");
  std::unique_ptr<TlsContext> made(new TlsContext(context));
  SetCommon(context);
  constexpr unsigned char kSessionContext[] = "tallyd";
  SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext);
  absl::Status status = LoadCertificate(context, config);
  if (status.ok()) status = LoadTrust(context, config);
  if (!status.ok()) return status;
  return made;
}

absl::StatusOr<std::unique_ptr<TlsContext>> TlsContext::CreateForAnyPeer(const Config& config) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) return Failed("TLS");
  std::unique_ptr<TlsContext> made(new TlsContext(context));
  SetCommon(context);
  if (!config.tls_cert_file.empty()) {
    if (absl::Status status = LoadCertificate(context, config); !status.ok()) return status;
  }
  return made;
}

absl::StatusOr<std::unique_ptr<TlsContext>> TlsContext::CreateForPeers(const Config& config) {
  auto made = CreateForAnyPeer(config);
  if (!made.ok()) return made;
  SSL_CTX* context = (*made)->context_.get();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const char* file = config.tls_ca_cert_file.c_str();
  const bool trusts = config.tls_ca_cert_file.empty()
                          ? SSL_CTX_set_default_verify_paths(context) == 1
                          : SSL_CTX_load_verify_locations(context, file, nullptr) == 1;
  if (!trusts) return Failed(absl::StrCat("tls-ca-cert-file ", config.tls_ca_cert_file));
  return made;
}

absl::Status CheckTls(const Config& config) {
  const bool used = config.tls_port != 0 || (config.http_port != 0 && config.http_tls);
  const bool named = !config.tls_cert_file.empty() && !config.tls_key_file.empty();
  return used || named ? TlsContext::Create(config).status() : absl::OkStatus();
}

SslPointer TlsContext::NewOn(int socket) const {
  SslPointer ssl(SSL_new(context_.get()));
  if (ssl != nullptr && SSL_set_fd(ssl.get(), socket) == 1) return ssl;
  ERR_clear_error();
  return nullptr;
}

SslPointer TlsContext::Accept(int socket) const {
  SslPointer ssl = NewOn(socket);
  if (ssl != nullptr) SSL_set_accept_state(ssl.get());
  return ssl;
}

SslPointer TlsContext::Connect(int socket) const {
  SslPointer ssl = NewOn(socket);
  if (ssl != nullptr) SSL_set_connect_state(ssl.get());
  return ssl;
}

}  // namespace tally::server
