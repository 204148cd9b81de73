#include "server/connection.h"

#include <utility>

namespace tally::server {
namespace {

// An output buffer larger than this is given back when it has been sent.
constexpr size_t kKeptCapacity = 64 * 1024;

}  // namespace

Connection::Connection(int socket, SslPointer ssl, LoopTurn& turn, ServerState& server,
                       Dispatcher& dispatcher)
    : stream_(socket, std::move(ssl)), turn_(turn), server_(server), session_(server, dispatcher) {
  session_.client().transport = this;
  session_.client().descriptor = socket;
}

void Connection::OnReady(bool readable, bool writable, bool hung_up) {
  if (closed()) return;
  // TLS may have to write before it can go on reading, and the other way round.
  if (stream_.is_tls()) readable = writable = readable || writable;
  readable_ |= readable;
  hung_up_ |= hung_up;
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
  const Stream::Received received = stream_.Read(into);
  if (received.ended) return Close();
  // A read that leaves room has drained the socket, unless it was the last before the stream's end.
  readable_ = !received.drained || (hung_up_ && received.bytes > 0);
  if (received.bytes == 0) return;
  server_.stats.net_input_bytes += received.bytes;
  session_.Take({into.data(), received.bytes});
}

void Connection::Run(const TurnShare& share) {
  if (closed() || writing_) return;
  session_.Run(share);
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
    const Stream::Sent sent = stream_.Write(std::string_view(output).substr(sent_));
    if (sent.failed) return Close();
    if (sent.full) {
      output.erase(0, sent_);
      sent_ = 0;
      writing_ = true;
      return LimitOutput();
    }
    sent_ += sent.bytes;
    server_.stats.net_output_bytes += sent.bytes;
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
  stream_.Close();
  turn_.Forget(client());
}

}  // namespace tally::server
