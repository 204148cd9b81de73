#include "server/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace tally::server {
namespace {

// An output buffer larger than this is given back when it has been sent.
constexpr size_t kKeptCapacity = 64 * 1024;

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Connection::Connection(int socket, LoopTurn& turn, ServerState& server, Dispatcher& dispatcher)
    : socket_(socket), turn_(turn), server_(server), session_(server, dispatcher) {
  session_.client().transport = this;
  session_.client().descriptor = socket;
}

Connection::~Connection() { CloseSocket(); }

void Connection::OnReady(bool readable, bool writable, bool hung_up) {
  readable_ |= readable;
  hung_up_ |= hung_up;
  if (closed()) return;
  if (writable && writing_) {
    writing_ = false;
    server_.clients.MarkPending(client());
  }
  GoOn();
}

bool Connection::wants_input() const {
  return readable_ && !closed() && !writing_ && !session_.has_backlog() && !session_.finished();
}

void Connection::Read(std::span<char> into) {
  const ssize_t received = ::recv(socket_, into.data(), into.size(), MSG_DONTWAIT);
  if (received <= 0) {
    const bool again = received < 0 && (WouldBlock(errno) || errno == EINTR);
    if (!again) return Close();
    readable_ = errno == EINTR;
    return;
  }
  // A read that leaves room has drained the socket, unless it was the last before the stream's end.
  readable_ = hung_up_ || static_cast<size_t>(received) == into.size();
  server_.stats.net_input_bytes += static_cast<uint64_t>(received);
  session_.Take({into.data(), static_cast<size_t>(received)});
}

void Connection::Run(int64_t share_us) {
  if (closed() || writing_) return;
  session_.Run(share_us);
  GoOn();
}

void Connection::GoOn() {
  if (queued_ || closed() || writing_ || client().running || session_.finished()) return;
  if (!session_.has_backlog() && !wants_input()) return;
  queued_ = true;
  turn_.Enqueue(shared_from_this());
}

void Connection::FlushOutput() {
  if (closed()) return;
  if (writing_) return LimitOutput();
  std::string& output = client().output;
  while (sent_ < output.size()) {
    const ssize_t written =
        ::send(socket_, output.data() + sent_, output.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0) {
      if (errno == EINTR) continue;
      if (!WouldBlock(errno)) return Close();
      output.erase(0, sent_);
      sent_ = 0;
      writing_ = true;
      return LimitOutput();
    }
    sent_ += static_cast<size_t>(written);
    server_.stats.net_output_bytes += static_cast<uint64_t>(written);
  }
  sent_ = 0;
  output.clear();
  if (output.capacity() > kKeptCapacity) output.shrink_to_fit();
  if (session_.finished()) return Close();
  GoOn();
}

void Connection::LimitOutput() {
  if (closed()) return;
  const ClientClass kind = client().subscribed() ? ClientClass::kPubSub : ClientClass::kNormal;
  const OutputBufferLimit& limit =
      server_.config.client_output_buffer_limit[static_cast<size_t>(kind)];
  const auto waiting = static_cast<int64_t>(client().output.size() - sent_);
  const int64_t now = server_.clock.now_ms();
  if (limit.soft == 0 || waiting <= limit.soft) {
    over_soft_limit_since_ms_ = 0;
  } else if (over_soft_limit_since_ms_ == 0) {
    over_soft_limit_since_ms_ = now;
  }
  const bool too_long = over_soft_limit_since_ms_ != 0 &&
                        (now - over_soft_limit_since_ms_) / 1000 > limit.soft_seconds;
  if (!too_long && (limit.hard == 0 || waiting <= limit.hard)) return;
  ++server_.stats.client_output_limit_disconnections;
  server_.log.Warning("Closing a client that does not take its output: ", client().address, ", ",
                      waiting, " bytes wait");
  Close();
}

void Connection::Close() {
  if (closed()) return;
  CloseSocket();
  turn_.Forget(client());
}

void Connection::CloseSocket() {
  if (closed()) return;
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
  socket_ = -1;
}

}  // namespace tally::server
