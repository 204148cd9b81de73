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

Connection::~Connection() { Close(); }

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

void Connection::Run() {
  if (closed() || writing_) return;
  session_.Run();
  GoOn();
}

void Connection::GoOn() {
  if (queued_ || closed() || writing_ || session_.finished()) return;
  if (!session_.has_backlog() && !wants_input()) return;
  queued_ = true;
  turn_.Enqueue(shared_from_this());
}

void Connection::FlushOutput() {
  if (closed() || writing_) return;
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
      return;
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

void Connection::Close() {
  if (closed()) return;
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
  socket_ = -1;
}

}  // namespace tally::server
