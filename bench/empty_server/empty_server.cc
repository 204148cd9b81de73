// A server that only receives, counts and sends: it answers each PING (14 bytes as an array) with
// +PONG, on one edge-triggered epoll set, as tallyd's loop does. What it costs is the kernel's part
// of a request, below which no server with this loop can be. bench/loop.py compares them.
//
//   empty_server --port PORT [--second-thread]
//
// With --second-thread another one only sleeps: the kernel then counts at each call who uses a
// descriptor, as in any server that logs. What else is given is ignored.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

namespace {

constexpr size_t kRequestBytes = 14;  // *1\r\n$4\r\nPING\r\n
constexpr std::string_view kReply = "+PONG\r\n";

void Watch(int poller, int descriptor, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = descriptor;
  ::epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

int Listen(const char* port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(listener, any, sizeof(address)) != 0 || ::listen(listener, 511) != 0) return -1;
  return listener;
}

void Accept(int poller, int listener) {
  for (int socket; (socket = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Watch(poller, socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }
}

// Answers what has come; `rest` is what was received of a request that is not whole yet.
void Serve(int socket, size_t& rest) {
  static std::array<char, 64 * 1024> buffer;
  static std::string replies;
  ssize_t received = 0;
  do {
    // Without libc, which pays for a second thread at each call that may wait.
    received = ::syscall(SYS_recvfrom, socket, buffer.data(), buffer.size(), MSG_DONTWAIT, nullptr,
                         nullptr);
    if (received <= 0) break;
    rest += static_cast<size_t>(received);
    replies.clear();
    for (; rest >= kRequestBytes; rest -= kRequestBytes) replies += kReply;
    ::syscall(SYS_sendto, socket, replies.data(), replies.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
              nullptr, 0);
  } while (received == static_cast<ssize_t>(buffer.size()));
  if (received == 0) ::close(socket);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "--port") return 2;
  if (std::find(argv, argv + argc, std::string_view("--second-thread")) != argv + argc) {
    std::thread([] { ::pause(); }).detach();
  }
  const int listener = Listen(argv[2]);
  if (listener < 0) return 1;
  const int poller = ::epoll_create1(0);
  Watch(poller, listener, EPOLLIN);
  std::unordered_map<int, size_t> rests;
  std::array<epoll_event, 512> events;
  for (;;) {
    const auto count = static_cast<int>(::syscall(SYS_epoll_pwait, poller, events.data(),
                                                  static_cast<int>(events.size()), -1, nullptr, 0));
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.fd == listener) {
        Accept(poller, listener);
      } else if ((event.events & EPOLLIN) != 0) {
        Serve(event.data.fd, rests[event.data.fd]);
      }
    }
  }
}
