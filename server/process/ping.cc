#include "server/process/ping.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read_until.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

constexpr size_t kMaxReply = 1024;

absl::Status Failed(std::string_view step, const std::error_code& error) {
  return absl::UnavailableError(StrCat(step, ": ", error.message()));
}

// The address that reaches a server listening on `host`.
asio::ip::address Reachable(const std::string& host, std::error_code& error) {
  if (host == "*" || host == "0.0.0.0") return asio::ip::address_v4::loopback();
  if (host == "::*" || host == "::") return asio::ip::address_v6::loopback();
  return asio::ip::make_address(host.starts_with('-') ? host.substr(1) : host, error);
}

using TlsStream = asio::ssl::stream<asio::ip::tcp::socket>;

// One connection that asks PING. Its steps are asynchronous so that one limit holds for all of
// them: Asio's synchronous calls wait without end, whatever SO_RCVTIMEO and SO_SNDTIMEO say.
template <typename Stream>
class Question {
 public:
  using Endpoint = typename Stream::lowest_layer_type::protocol_type::endpoint;

  template <typename... Context>
  explicit Question(Context&... context) : stream_(io_, context...) {}

  absl::StatusOr<std::string> Ask(const Endpoint& endpoint, std::chrono::milliseconds wait) {
    stream_.lowest_layer().async_connect(endpoint, [this](const std::error_code& error) {
      if (Passes("connect", error)) Greet();
    });
    io_.run_for(wait);
    return answer_;
  }

 private:
  void Greet() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_handshake(asio::ssl::stream_base::client, [this](const std::error_code& error) {
        if (Passes("TLS", error)) Send();
      });
    } else {
      Send();
    }
  }

  void Send() {
    asio::async_write(stream_, asio::buffer("PING\r\n", 6),
                      [this](const std::error_code& error, size_t) {
                        if (Passes("send", error)) Receive();
                      });
  }

  void Receive() {
    asio::async_read_until(stream_, asio::dynamic_buffer(reply_, kMaxReply), '\n',
                           [this](const std::error_code& error, size_t) {
                             if (!Passes("receive", error)) return;
                             answer_ = reply_.substr(0, reply_.find_first_of("\r\n"));
                           });
  }

  bool Passes(std::string_view step, const std::error_code& error) {
    if (error) answer_ = Failed(step, error);
    return !error;
  }

  asio::io_context io_;
  Stream stream_;
  std::string reply_;
  // Until a step has failed or the reply is complete: what to say when the time is up.
  absl::StatusOr<std::string> answer_ = absl::UnavailableError("no answer in time");
};

// The server's certificate is shown as the client's, in case one is asked for. It is not verified:
// only whether the server answers matters, and nothing secret is sent.
absl::Status ShowCertificate(const Config& config, asio::ssl::context& context) {
  std::error_code error;
  context.set_verify_mode(asio::ssl::verify_none, error);
  if (config.tls_auth_clients == TlsClientAuth::kNo) return absl::OkStatus();
  context.set_password_callback([&config](auto...) { return config.tls_key_file_pass; }, error);
  context.use_certificate_chain_file(config.tls_cert_file, error);
  if (error) return Failed(config.tls_cert_file, error);
  context.use_private_key_file(config.tls_key_file, asio::ssl::context::pem, error);
  return error ? Failed(config.tls_key_file, error) : absl::OkStatus();
}

absl::StatusOr<std::string> Reply(const Config& config, std::chrono::milliseconds wait) {
  if (!config.unixsocket.empty()) {
    return Question<asio::local::stream_protocol::socket>().Ask(config.unixsocket, wait);
  }
  const int64_t port = config.port != 0 ? config.port : config.tls_port;
  if (port == 0 || config.bind.empty()) {
    return absl::FailedPreconditionError(
        "the configuration has no port, tls-port or unixsocket to ask at");
  }
  std::error_code error;
  const asio::ip::address address = Reachable(config.bind.front(), error);
  if (error) return Failed(config.bind.front(), error);
  const asio::ip::tcp::endpoint endpoint(address, static_cast<uint16_t>(port));
  if (config.port != 0) return Question<asio::ip::tcp::socket>().Ask(endpoint, wait);
  asio::ssl::context context(asio::ssl::context::tls_client);
  if (const absl::Status status = ShowCertificate(config, context); !status.ok()) return status;
  return Question<TlsStream>(context).Ask(endpoint, wait);
}

}  // namespace

absl::StatusOr<std::string> Ping(const Config& config, std::chrono::milliseconds wait) {
  absl::StatusOr<std::string> reply = Reply(config, wait);
  if (!reply.ok() || *reply == "+PONG" || reply->starts_with("-NOAUTH")) return reply;
  return absl::FailedPreconditionError(*reply);
}

}  // namespace tally::server
