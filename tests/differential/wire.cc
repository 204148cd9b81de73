#include "tests/differential/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "core/bytes/str_cat.h"
#include "server/resp/resp_command.h"
#include "tests/differential/reply.h"

namespace tally::differential {
namespace {

constexpr size_t kReadBytes = 64 * 1024;
// A reply that takes longer does not come.
constexpr timeval kTimeout{.tv_sec = 60, .tv_usec = 0};

[[noreturn]] void Fail(uint16_t port, const char* what) {
  throw std::runtime_error(
      StrCat("port ", std::to_string(port), ": ", what, ": ", std::strerror(errno)));
}

}  // namespace

void AppendRequest(std::string& out, const Request& request) {
  const std::vector<std::string_view> args(request.begin(), request.end());
  server::AppendRespCommand(out, args);
}

Wire::Wire(uint16_t port) : port_(port) {
  descriptor_ = socket(AF_INET, SOCK_STREAM, 0);
  if (descriptor_ < 0) Fail(port, "socket");
  const int yes = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof kTimeout);
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &kTimeout, sizeof kTimeout);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    Fail(port, "connect");
  }
}

Wire::~Wire() { close(descriptor_); }

void Wire::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) Fail(port_, "send");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

std::string_view Wire::TakeReply() {
  const std::string_view rest = std::string_view(buffer_).substr(taken_);
  const size_t size = ReplySize(rest);
  taken_ += size;
  return rest.substr(0, size);
}

bool Wire::Read(bool wait) {
  buffer_.erase(0, taken_);
  taken_ = 0;
  const size_t held = buffer_.size();
  buffer_.resize(held + kReadBytes);
  const ssize_t got = recv(descriptor_, buffer_.data() + held, kReadBytes, wait ? 0 : MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN && !wait) {
    buffer_.resize(held);
    return false;
  }
  if (got == 0) errno = ECONNRESET;
  if (got <= 0) Fail(port_, "no reply came");
  buffer_.resize(held + static_cast<size_t>(got));
  return true;
}

std::string_view Wire::Receive() {
  for (;;) {
    if (const std::string_view reply = TakeReply(); !reply.empty()) return reply;
    Read(/*wait=*/true);
  }
}

std::string_view Wire::ReceiveArrived() {
  for (;;) {
    if (const std::string_view reply = TakeReply(); !reply.empty()) return reply;
    if (!Read(/*wait=*/false)) return {};
  }
}

std::string_view Wire::Call(const Request& request) {
  std::string bytes;
  AppendRequest(bytes, request);
  Send(bytes);
  return Receive();
}

}  // namespace tally::differential
