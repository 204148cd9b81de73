// The sockets of all connections, as one descriptor that is readable while any of them has news.
//
// A socket is registered once, edge-triggered for both directions, and costs no system call more:
// with a wait of its own for each read, arming it would be a third of the calls that a request
// takes. Who hears of an edge remembers it until a read or write says that the socket is drained.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <span>

namespace tally::server {

class Connection;

class ReadySet {
 public:
  // `descriptor` is of epoll_create1; the owner closes it.
  explicit ReadySet(int descriptor) : descriptor_(descriptor) {}

  static int Create();

  struct Ready {
    Connection* connection;
    bool readable;
    bool writable;
    bool hung_up;  // what is left to read ends with the end of the stream, or an error
  };

  // False when the kernel has no room for it. A socket leaves the set when it is closed.
  bool Add(int socket, Connection& connection);

  // What has happened since the last call, as far as kMaxAtOnce; never waits. Valid until the next.
  std::span<const Ready> Take();
  static constexpr int kMaxAtOnce = 512;

 private:
  int descriptor_;
  std::array<epoll_event, kMaxAtOnce> events_;
  std::array<Ready, kMaxAtOnce> ready_;
};

}  // namespace tally::server
