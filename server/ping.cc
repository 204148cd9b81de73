#include "server/ping.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
#include <string_view>
#include <system_error>

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

// One connection that asks PING. Its steps are asynchronous so that one limit holds for all of
// them: Asio's synchronous calls wait without end, whatever SO_RCVTIMEO and SO_SNDTIMEO say.
template <typename Protocol>
class Question {
 public:
  absl::StatusOr<std::string> Ask(const typename Protocol::endpoint& endpoint,
                                  std::chrono::milliseconds wait) {
    socket_.async_connect(endpoint, [this](const std::error_code& error) {
      if (Passes("connect", error)) Send();
    });
    io_.run_for(wait);
    return answer_;
  }

 private:
  void Send() {
    asio::async_write(socket_, asio::buffer("PING\r\n", 6),
                      [this](const std::error_code& error, size_t) {
                        if (Passes("send", error)) Receive();
                      });
  }

  void Receive() {
    asio::async_read_until(socket_, asio::dynamic_buffer(reply_, kMaxReply), '\n',
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
  typename Protocol::socket socket_{io_};
  std::string reply_;
  // Until a step has failed or the reply is complete: what to say when the time is up.
  absl::StatusOr<std::string> answer_ = absl::UnavailableError("no answer in time");
};

absl::StatusOr<std::string> Reply(const Config& config, std::chrono::milliseconds wait) {
  if (!config.unixsocket.empty()) {
    return Question<asio::local::stream_protocol>().Ask(config.unixsocket, wait);
  }
  if (config.port == 0 || config.bind.empty()) {
    return absl::FailedPreconditionError(
        "the configuration has neither a port without TLS nor a unixsocket to ask at");
  }
  std::error_code error;
  const asio::ip::address address = Reachable(config.bind.front(), error);
  if (error) return Failed(config.bind.front(), error);
  return Question<asio::ip::tcp>().Ask({address, static_cast<uint16_t>(config.port)}, wait);
}

}  // namespace

absl::StatusOr<std::string> Ping(const Config& config, std::chrono::milliseconds wait) {
  absl::StatusOr<std::string> reply = Reply(config, wait);
  if (!reply.ok() || *reply == "+PONG" || reply->starts_with("-NOAUTH")) return reply;
  return absl::FailedPreconditionError(*reply);
}

}  // namespace tally::server
