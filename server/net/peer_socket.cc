#include "server/net/peer_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

std::string ErrorName(int error) { return std::generic_category().message(error); }

}  // namespace

int DialSocket(const SocketAddress& to) {
  constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const int socket = ::socket(to.family(), kType, 0);
  if (socket < 0) return -1;
  if (to.family() != AF_UNIX) {
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  }
  if (::connect(socket, to.data(), to.size()) == 0 || errno == EINPROGRESS) return socket;
  const int error = errno;
  ::close(socket);
  errno = error;
  return -1;
}

void PeerSocket::Open(const std::string& host, int64_t port, std::unique_ptr<TlsContext> tls) {
  const auto number = static_cast<uint16_t>(port);
  if (const auto address = SocketAddress::FromFigures(host, number); address.ok()) {
    return Open(*address, std::move(tls));
  }
  Begin(std::move(tls), State::kFinding);
  name_ = host;
  search_.emplace(host, number);
}

void PeerSocket::Open(const SocketAddress& address, std::unique_ptr<TlsContext> tls) {
  Begin(std::move(tls), State::kConnecting);
  addresses_ = {address};
}

void PeerSocket::Begin(std::unique_ptr<TlsContext> tls, State state) {
  Close();
  tls_ = std::move(tls);
  event_ = true;
  writable_ = true;
  state_ = state;
  last_error_ = absl::OkStatus();
  addresses_.clear();
  next_address_ = 0;
}

void PeerSocket::Close() {
  search_.reset();
  if (connecting_ >= 0) ::close(connecting_);
  connecting_ = -1;
  stream_ = nullptr;
  output_.clear();
  state_ = State::kClosed;
}

absl::Status PeerSocket::Continue() {
  if (state_ == State::kFinding) TakeFound();
  if (state_ != State::kConnecting) return absl::OkStatus();
  absl::Status status = connecting_ >= 0 ? FinishConnecting() : TryNext();
  if (!status.ok()) Close();
  return status;
}

void PeerSocket::TakeFound() {
  event_ = false;
  std::optional<NameSearch::Result> found = search_->Take();
  if (!found) return;
  addresses_ = std::move(found->addresses);
  if (addresses_.empty()) {
    last_error_ =
        absl::UnavailableError(StrCat("the name ", name_, " is not found: ", found->error));
  }
  state_ = State::kConnecting;
}

absl::Status PeerSocket::TryNext() {
  while (next_address_ < addresses_.size()) {
    hung_up_ = false;
    connecting_ = dial_(addresses_[next_address_++]);
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

absl::Status PeerSocket::FinishConnecting() {
  if (!event_) return absl::OkStatus();
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(connecting_, SOL_SOCKET, SO_ERROR, &error, &size);
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  const bool connected =
      ::getpeername(connecting_, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0;
  if (error == 0 && !connected) {
    event_ = hung_up_ = false;  // an event that says nothing of the connection
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

void PeerSocket::OnEvent(DescriptorEvent event) {
  event_ = true;
  hung_up_ |= event.hung_up;
  if (event.writable || (stream_ != nullptr && stream_->is_tls())) writable_ = true;
}

Stream::Received PeerSocket::Read(std::span<char> into) {
  const Stream::Received received = stream_->Read(into);
  // No other event follows the one that came with the end of the stream.
  if (received.drained && !hung_up_) event_ = false;
  return received;
}

bool PeerSocket::Flush() {
  while (writable_ && !output_.empty()) {
    const std::string_view bytes = output_;
    const Stream::Sent sent = stream_->Write({&bytes, 1});
    if (sent.failed) return false;
    output_.erase(0, sent.bytes);
    if (sent.full) writable_ = false;
  }
  return true;
}

}  // namespace tally::server
