#include "bench/quota_scale/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/bytes/number.h"

namespace tally::bench {
namespace {

constexpr size_t kReadBytes = 64 * 1024;

// The bytes of the reply that `in` begins with; 0 if it is not whole.
size_t ReplySize(std::string_view in) {
  const size_t line_end = in.find("\r\n");
  if (line_end == std::string_view::npos) return 0;
  const size_t head = line_end + 2;
  if (in[0] != '$' && in[0] != '*') return head;
  const int64_t length = ParseInt64(in.substr(1, line_end - 1)).value_or(-1);
  if (length < 0) return head;
  if (in[0] == '$') {
    const size_t size = head + static_cast<size_t>(length) + 2;
    return in.size() < size ? 0 : size;
  }
  size_t size = head;
  for (int64_t i = 0; i < length; ++i) {
    const size_t element = ReplySize(in.substr(size));
    if (element == 0) return 0;
    size += element;
  }
  return size;
}

}  // namespace

void Die(const std::string& what) {
  std::fprintf(stderr, "quota_scale: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

void CommandWriter::Begin(size_t words) {
  out_ += '*';
  AppendInt64(out_, static_cast<int64_t>(words));
  out_ += "\r\n";
}

void CommandWriter::Word(std::string_view word) {
  out_ += '$';
  AppendInt64(out_, static_cast<int64_t>(word.size()));
  out_ += "\r\n";
  out_ += word;
  out_ += "\r\n";
}

void CommandWriter::Word(int64_t number) { Word(Int64Text(number).view()); }

Connection::Connection(int port, bool may_fail) {
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) Die("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (!may_fail) Die("cannot connect to the server");
    ::close(descriptor_);
    descriptor_ = -1;
    return;
  }
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Connection::~Connection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Connection::Flush() {
  while (!flushed()) {
    const ssize_t sent = ::send(descriptor_, output_.data() + written_, output_.size() - written_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) Die("send");
    written_ += static_cast<size_t>(sent);
  }
  output_.clear();
  written_ = 0;
}

bool Connection::Receive() {
  if (consumed_ > 0) {
    input_.erase(0, consumed_);
    consumed_ = 0;
  }
  const size_t size = input_.size();
  input_.resize(size + kReadBytes);
  const ssize_t received = ::recv(descriptor_, input_.data() + size, kReadBytes, MSG_DONTWAIT);
  input_.resize(size + (received > 0 ? static_cast<size_t>(received) : 0));
  return received > 0 || (received < 0 && errno == EAGAIN);
}

std::string_view Connection::NextReply() {
  const std::string_view rest = std::string_view(input_).substr(consumed_);
  const size_t size = ReplySize(rest);
  consumed_ += size;
  return rest.substr(0, size);
}

void Connection::Wait(short events) {
  pollfd poll_for{descriptor_, events, 0};
  if (::poll(&poll_for, 1, -1) < 0 && errno != EINTR) Die("poll");
}

void Connection::Select(int database) {
  if (Call({"SELECT", std::to_string(database)}) != "+OK\r\n") Die("SELECT");
}

std::string Connection::Call(std::initializer_list<std::string_view> words) {
  CommandWriter writer(output_);
  writer.Begin(words.size());
  for (const std::string_view word : words) writer.Word(word);
  for (Flush(); !flushed(); Flush()) Wait(POLLOUT);
  while (true) {
    if (const std::string_view reply = NextReply(); !reply.empty()) return std::string(reply);
    Wait(POLLIN);
    if (!Receive()) Die("the server has closed the connection");
  }
}

}  // namespace tally::bench
