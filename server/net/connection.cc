#include "server/net/connection.h"

#include <array>
#include <utility>

#include "server/config/config.h"
#include "server/log/log.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

Connection::Connection(int socket, SslPointer ssl, ConnectionHost host, Services& server,
                       std::unique_ptr<Conversation> conversation)
    : stream_(socket, std::move(ssl)),
      host_(host),
      server_(server),
      conversation_(std::move(conversation)),
      client_(conversation_->client()) {
  client_.transport = this;
  client_.descriptor = socket;
}

void Connection::OnEvent(DescriptorEvent event) {
  if (closed()) return;
  auto [readable, writable, hung_up] = event;
  // TLS may have to write before it can go on reading, and the other way round.
  if (stream_.is_tls()) readable = writable = readable || writable;
  if (readable) state().socket.Edge(hung_up);
  EndIfNobodyWaits();
  if (writable && state().output.Unblock()) server_.clients.MarkPending(client());
  EnqueueIfReady();
}

void Connection::Read(std::span<char> into) {
  const std::span<char> room = conversation_->LongArgumentRoom(into.size());
  const Stream::Received received = stream_.Read(room.empty() ? into : room);
  ++server_.stats.socket_reads;
  if (received.ended) return Close();
  state().socket.Read(received.bytes, received.drained);
  if (received.bytes == 0) return;
  server_.stats.net_input_bytes += received.bytes;
  room.empty() ? conversation_->Take({into.data(), received.bytes})
               : conversation_->TakeInRoom(received.bytes);
}

void Connection::Run(const TurnShare& share) {
  state().place.Begin();
  if (state().MayBeServed()) conversation_->Run(share);
  state().place.End();
  EndIfNobodyWaits();
  EnqueueIfReady();
}

// A client whose command waits is not read, so that a read would not find the end of its stream.
void Connection::EndIfNobodyWaits() {
  if (!ending() || !state().command.blocked()) return;
  state().end.Finish();
  server_.clients.MarkPending(client());
}

void Connection::EnqueueIfReady() {
  if (!state().WantsTurn()) return;
  state().place.Enqueue();
  host_.queue.Enqueue(*this);
}

Stream::Sent Connection::SendSome(size_t most) {
  const ByteBlocks& output = client().output;
  if (output.pieces() == 1) [[likely]] {
    std::string_view only;
    output.Front({&only, 1}, most);
    return stream_.Write({&only, 1});
  }
  std::array<std::string_view, Stream::kMostPieces> pieces;
  return stream_.Write(std::span(pieces).first(output.Front(pieces, most)));
}

bool Connection::FlushOutput(size_t most) {
  if (closed()) return false;
  ByteBlocks& output = client().output;
  OutputProgress& progress = state().output;
  // What is left of an output that was too large is no reply: nothing of it may be sent.
  if (output.overflowed()) {
    LimitOutput();
    return false;
  }
  while (!progress.blocked() && !output.empty() && most > 0) {
    const Stream::Sent sent = SendSome(most);
    ++server_.stats.socket_writes;
    if (sent.failed) {
      Close();
      return false;
    }
    output.Consume(sent.bytes);
    most -= sent.bytes;
    if (sent.full) progress.Block();
    server_.stats.net_output_bytes += sent.bytes;
  }
  if (!output.empty()) {
    progress.Leave();
    LimitOutput();
    return !closed() && !progress.blocked();
  }
  progress.Clear();
  over_soft_limit_since_ms_ = 0;
  client_.finished() ? Close() : EnqueueIfReady();
  return false;
}

void Connection::LimitTime() {
  if (conversation_->CheckDeadlines()) Close();
}

void Connection::LimitOutput() {
  if (closed()) return;
  const OutputBufferLimit& limit = OutputLimitOf(server_.config, client());
  const ByteBlocks& output = client().output;
  const auto waiting = static_cast<int64_t>(output.size());
  bool too_long = false;
  if (limit.soft == 0 || waiting <= limit.soft) {
    over_soft_limit_since_ms_ = 0;
  } else {
    const int64_t now_ms = server_.clock.steady_ms();
    if (over_soft_limit_since_ms_ == 0) over_soft_limit_since_ms_ = now_ms;
    too_long = (now_ms - over_soft_limit_since_ms_) / 1000 > limit.soft_seconds;
  }
  const bool too_much = output.overflowed() || (limit.hard != 0 && waiting > limit.hard);
  if (!too_long && !too_much) return;
  ++server_.stats.client_output_limit_disconnections;
  server_.log.Warning("Closing a client that does not take its output: ", client().address, ", ",
                      output.overflowed() ? limit.hard : waiting, " bytes wait");
  Close();
}

void Connection::Close() {
  if (closed()) return;
  state().end.Close();
  stream_.Close();
  host_.owner.Forget(client());
}

}  // namespace tally::server
