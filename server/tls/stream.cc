#include "server/tls/stream.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace tally::server {
namespace {

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Whether a failed call may be repeated when the socket has news.
bool MayRepeat(const SSL* ssl, int result) {
  const int error = SSL_get_error(ssl, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

}  // namespace

Stream::Received Stream::Read(std::span<char> into) {
  if (is_tls()) [[unlikely]]
    return ReadTls(into);
  const ssize_t received = ::recv(socket_, into.data(), into.size(), MSG_DONTWAIT);
  if (received > 0) {
    const auto bytes = static_cast<size_t>(received);
    return {.bytes = bytes, .drained = bytes < into.size()};
  }
  if (received < 0 && errno == EINTR) return {};
  return {.drained = true, .ended = received == 0 || !WouldBlock(errno)};
}

// Records of TLS come one by one, at most 16 KiB each.
Stream::Received Stream::ReadTls(std::span<char> into) {
  Received received;
  while (received.bytes < into.size()) {
    ERR_clear_error();
    size_t bytes = 0;
    const auto rest = into.subspan(received.bytes);
    const int result = SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &bytes);
    if (result != 1) {
      received.drained = MayRepeat(ssl_.get(), result);
      // Behind the last bytes the end is met again.
      received.ended = !received.drained && received.bytes == 0;
      return received;
    }
    received.bytes += bytes;
  }
  return received;
}

Stream::Sent Stream::Write(std::string_view bytes) {
  if (is_tls()) [[unlikely]]
    return WriteTls(bytes);
  const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return {.bytes = static_cast<size_t>(sent)};
  if (errno == EINTR) return {};
  return {.full = WouldBlock(errno), .failed = !WouldBlock(errno)};
}

Stream::Sent Stream::WriteTls(std::string_view bytes) {
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
    // Tells the peer that nothing is cut off, if its socket takes that now.
    if (SSL_is_init_finished(ssl_.get())) SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
  socket_ = -1;
}

}  // namespace tally::server
