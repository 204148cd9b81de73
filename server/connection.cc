#include "server/connection.h"

#include <asio/buffer.hpp>
#include <system_error>

namespace tally::server {
namespace {

// An output buffer larger than this is given back when it has been sent.
constexpr size_t kKeptCapacity = 64 * 1024;

bool WouldBlock(const std::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

}  // namespace

Connection::Connection(Socket socket, LoopTurn& turn, ServerState& server, Dispatcher& dispatcher)
    : socket_(std::move(socket)), turn_(turn), server_(server), session_(server, dispatcher) {
  session_.client().transport = this;
  session_.client().descriptor = socket_.native_handle();
}

void Connection::Start() {
  std::error_code error;
  socket_.non_blocking(true, error);
  WaitReadable();
}

// Waiting for readiness and then reading costs less than an asynchronous read, which first tries to
// read when there is mostly nothing yet.
void Connection::WaitReadable() {
  if (reading_ || closed_) return;
  reading_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const std::error_code& error) {
    self->reading_ = false;
    if (!error && !self->closed_) self->OnReadable();
  });
}

void Connection::OnReadable() {
  turn_.Begin();
  const std::span<char> into = turn_.read_buffer();
  std::error_code error;
  const size_t received = socket_.read_some(asio::buffer(into.data(), into.size()), error);
  if (error) {
    if (WouldBlock(error)) return WaitReadable();
    return Close();
  }
  server_.stats.net_input_bytes += received;
  session_.Receive({into.data(), received});
  GoOn();
}

// Nothing more is read while commands are left to run: the peer has to wait.
void Connection::GoOn() {
  if (closed_ || session_.finished() || writing_) return;
  if (!session_.has_backlog()) return WaitReadable();
  if (resuming_) return;
  resuming_ = true;
  turn_.ResumeLater(shared_from_this());
}

void Connection::Resume() {
  resuming_ = false;
  if (closed_ || writing_) return;
  turn_.Begin();
  session_.Resume();
  GoOn();
}

void Connection::FlushOutput() {
  if (closed_ || writing_) return;
  std::string& output = client().output;
  while (sent_ < output.size()) {
    std::error_code error;
    const size_t written =
        socket_.write_some(asio::buffer(output.data() + sent_, output.size() - sent_), error);
    sent_ += written;
    server_.stats.net_output_bytes += written;
    if (!error) continue;
    if (WouldBlock(error)) return WaitWritable();
    return Close();
  }
  sent_ = 0;
  output.clear();
  if (output.capacity() > kKeptCapacity) output.shrink_to_fit();
  if (session_.finished()) return Close();
  if (!reading_) GoOn();
}

void Connection::WaitWritable() {
  std::string& output = client().output;
  output.erase(0, sent_);
  sent_ = 0;
  writing_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const std::error_code& error) {
    self->writing_ = false;
    if (error || self->closed_) return;
    self->turn_.Begin();
    self->server_.clients.MarkPending(self->client());
  });
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  std::error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace tally::server
