#include "server/replication/primary_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

std::string ErrorName(int error) { return std::generic_category().message(error); }

}  // namespace

int DialTcp(const asio::ip::tcp::endpoint& to) {
  constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const int socket = ::socket(to.protocol().family(), kType, IPPROTO_TCP);
  if (socket < 0) return -1;
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  const int begun = ::connect(socket, to.data(), static_cast<socklen_t>(to.size()));
  if (begun == 0 || errno == EINPROGRESS) return socket;
  const int error = errno;
  ::close(socket);
  errno = error;
  return -1;
}

void PrimarySocket::Open(const std::string& host, int64_t port, std::unique_ptr<TlsContext> tls) {
  Close();
  tls_ = std::move(tls);
  event_ = true;
  writable_ = true;
  state_ = State::kFinding;
  last_error_ = absl::OkStatus();
  const auto number = static_cast<uint16_t>(port);
  std::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (!error) return Found({{address, number}});
  resolver_ = std::make_unique<asio::ip::tcp::resolver>(io_);
  io_.restart();
  resolver_->async_resolve(
      host, std::to_string(port), asio::ip::resolver_base::numeric_service,
      [this, search = ++search_, host](const std::error_code& failed, const auto& results) {
        if (search != search_ || state_ != State::kFinding) return;
        std::vector<asio::ip::tcp::endpoint> found;
        for (const auto& one : results) found.push_back(one.endpoint());
        if (failed || found.empty()) {
          last_error_ = absl::UnavailableError(
              StrCat("the name ", host, " is not found: ", failed.message()));
        }
        Found(found);
      });
}

void PrimarySocket::Found(const std::vector<asio::ip::tcp::endpoint>& endpoints) {
  endpoints_ = endpoints;
  next_endpoint_ = 0;
  state_ = State::kConnecting;
}

void PrimarySocket::Close() {
  ++search_;
  resolver_ = nullptr;
  if (connecting_ >= 0) ::close(connecting_);
  connecting_ = -1;
  stream_ = nullptr;
  output_.clear();
  state_ = State::kClosed;
}

absl::Status PrimarySocket::Continue() {
  if (state_ == State::kFinding) {
    event_ = false;
    io_.poll();
  }
  if (state_ != State::kConnecting) return absl::OkStatus();
  absl::Status status = connecting_ >= 0 ? FinishConnecting() : TryNext();
  if (!status.ok()) Close();
  return status;
}

absl::Status PrimarySocket::TryNext() {
  while (next_endpoint_ < endpoints_.size()) {
    connecting_ = dial_(endpoints_[next_endpoint_++]);
    if (connecting_ >= 0 && poller_.WatchEdges(connecting_, *this)) {
      event_ = false;
      return absl::OkStatus();
    }
    last_error_ = absl::UnavailableError(StrCat("connect: ", ErrorName(errno)));
    if (connecting_ >= 0) ::close(connecting_);
    connecting_ = -1;
  }
  if (last_error_.ok()) last_error_ = absl::UnavailableError("there is no address to connect to");
  return last_error_;
}

absl::Status PrimarySocket::FinishConnecting() {
  if (!event_) return absl::OkStatus();
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(connecting_, SOL_SOCKET, SO_ERROR, &error, &size);
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  const bool connected =
      ::getpeername(connecting_, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0;
  if (error == 0 && !connected) {
    event_ = false;  // an event that says nothing of the connection
    return absl::OkStatus();
  }
  if (error != 0) {
    last_error_ = absl::UnavailableError(StrCat("connect: ", ErrorName(error)));
    ::close(std::exchange(connecting_, -1));
    return TryNext();
  }
  const int socket = std::exchange(connecting_, -1);
  SslPointer ssl = tls_ == nullptr ? nullptr : tls_->Connect(socket);
  if (tls_ != nullptr && ssl == nullptr) {
    ::close(socket);
    return absl::ResourceExhaustedError("TLS: no memory");
  }
  stream_ = std::make_unique<Stream>(socket, std::move(ssl));
  state_ = State::kConnected;
  return absl::OkStatus();
}

void PrimarySocket::OnEvent(DescriptorEvent event) {
  event_ = true;
  if (event.writable || (stream_ != nullptr && stream_->is_tls())) writable_ = true;
}

Stream::Received PrimarySocket::Read(std::span<char> into) {
  const Stream::Received received = stream_->Read(into);
  if (received.drained) event_ = false;
  return received;
}

bool PrimarySocket::Flush() {
  while (writable_ && !output_.empty()) {
    const std::string_view bytes = output_;
    const Stream::Sent sent = stream_->Write({&bytes, 1});
    if (sent.failed) return false;
    output_.erase(0, sent.bytes);
    if (sent.full) writable_ = false;
  }
  return true;
}

std::string PrimarySocket::LocalAddress() const {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  if (::getsockname(stream_->socket(), reinterpret_cast<sockaddr*>(&local), &size) != 0) return {};
  asio::ip::tcp::endpoint end;
  std::memcpy(end.data(), &local, std::min<size_t>(size, end.capacity()));
  const std::string host = end.address().to_string();
  return end.address().is_v6() ? StrCat("[", host, "]:", end.port())
                               : StrCat(host, ":", end.port());
}

}  // namespace tally::server
