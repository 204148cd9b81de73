#include "server/net/tls/stream.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace tally::server {
namespace {

// libc's recv and send let another thread cancel the caller while it waits, which takes two locked
// instructions a call once the process has a second thread. No thread is cancelled here, so every
// request saves them.
ssize_t Receive(int socket, std::span<char> into, int flags) {
  return ::syscall(SYS_recvfrom, socket, into.data(), into.size(), flags, nullptr, nullptr);
}

ssize_t Send(int socket, std::string_view bytes, int flags) {
  return ::syscall(SYS_sendto, socket, bytes.data(), bytes.size(), flags, nullptr, 0);
}

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Returns true if the failed call may be repeated when the socket becomes readable or writable.
bool MayRepeat(const SSL* ssl, int result) {
  const int error = SSL_get_error(ssl, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

}  // namespace

Stream::Received Stream::Read(std::span<char> into) {
  if (is_tls()) [[unlikely]]
    return ReadTls(into);
  const ssize_t received = Receive(socket_, into, MSG_DONTWAIT);
  if (received > 0) {
    const auto bytes = static_cast<size_t>(received);
    return {.bytes = bytes, .drained = bytes < into.size()};
  }
  if (received < 0 && errno == EINTR) return {};
  return {.drained = true, .ended = received == 0 || !WouldBlock(errno)};
}

// SSL_read_ex returns at most one TLS record (16 KiB), so this calls it until `into` is full.
Stream::Received Stream::ReadTls(std::span<char> into) {
  Received received;
  while (received.bytes < into.size()) {
    ERR_clear_error();
    size_t bytes = 0;
    const auto rest = into.subspan(received.bytes);
    const int result = SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &bytes);
    if (result != 1) {
      received.drained = MayRepeat(ssl_.get(), result);
      // If this call has read bytes, the end is reported by the next call, which meets it again.
      received.ended = !received.drained && received.bytes == 0;
      return received;
    }
    received.bytes += bytes;
  }
  return received;
}

Stream::Sent Stream::Write(std::span<const std::string_view> pieces) {
  if (is_tls()) [[unlikely]]
    return WriteTls(pieces);
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  ssize_t sent = 0;
  if (pieces.size() == 1) [[likely]] {
    sent = Send(socket_, pieces.front(), kFlags);
  } else {
    std::array<iovec, kMostPieces> vectors;
    for (size_t i = 0; i < pieces.size(); ++i) {
      vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
    }
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = pieces.size();
    sent = ::sendmsg(socket_, &message, kFlags);
  }
  if (sent >= 0) return {.bytes = static_cast<size_t>(sent)};
  if (errno == EINTR) return {};
  return {.full = WouldBlock(errno), .failed = !WouldBlock(errno)};
}

// Writes at most one TLS record (16 KiB). Gathers short pieces, so that not each of them gets a
// record of its own. OpenSSL requires that the call after a full one gives at least as many bytes;
// callers ensure it by giving the same bytes again.
Stream::Sent Stream::WriteTls(std::span<const std::string_view> pieces) {
  constexpr size_t kRecordBytes = 16 * 1024;
  std::array<char, kRecordBytes> gathered;
  std::string_view bytes = pieces.front().substr(0, kRecordBytes);
  if (pieces.size() > 1 && bytes.size() < kRecordBytes) {
    size_t size = 0;
    for (const std::string_view piece : pieces) {
      size += piece.copy(gathered.data() + size, kRecordBytes - size);
    }
    bytes = {gathered.data(), size};
  }
  ERR_clear_error();
  size_t sent = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
  if (result == 1) return {.bytes = sent};
  const bool full = MayRepeat(ssl_.get(), result);
  return {.full = full, .failed = !full};
}

void Stream::Close() {
  if (closed()) return;
  if (is_tls()) {
    ERR_clear_error();
    // Sends close_notify if the socket takes it now, so that the peer knows that no data is
    // missing.
    if (SSL_is_init_finished(ssl_.get())) SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
  socket_ = -1;
}

}  // namespace tally::server
