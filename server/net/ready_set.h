// Holds the sockets of all connections behind one descriptor, which is readable while any of them
// has an event.
//
// A socket is registered once, edge-triggered for both directions, and needs no system call after
// that. Arming a separate wait for each read would be a third of the system calls of a request. The
// receiver of an edge remembers it until a read or write says that the socket is drained.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <span>

namespace tally::server {

class Connection;

class ReadySet {
 public:
  // `descriptor` comes from Create. The owner of the descriptor closes it.
  explicit ReadySet(int descriptor) : descriptor_(descriptor) {}

  static int Create();

  struct Ready {
    Connection* connection;
    bool readable;
    bool writable;
    bool hung_up;  // what is left to read ends with the end of the stream, or an error
  };

  // Returns false if the kernel has no room for the socket. A socket leaves the set when it is
  // closed.
  bool Add(int socket, Connection& connection);

  // Returns the events since the last call, at most kMaxAtOnce of them. Never waits. Valid until
  // the next call.
  std::span<const Ready> Take();
  static constexpr int kMaxAtOnce = 512;

 private:
  int descriptor_;
  std::array<epoll_event, kMaxAtOnce> events_;
  std::array<Ready, kMaxAtOnce> ready_;
};

}  // namespace tally::server
