// A connection to a server under comparison: requests out in one piece, replies back in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally::differential {

using Request = std::vector<std::string>;

// As an array of bulk strings.
void AppendRequest(std::string& out, const Request& request);

class Wire {
 public:
  // To 127.0.0.1. Every failure of a socket throws: there is nothing left to compare.
  explicit Wire(uint16_t port);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void Send(std::string_view bytes);
  // The next reply, whole; valid until the next call.
  std::string_view Receive();
  // The same, but empty when no whole reply has arrived.
  std::string_view ReceiveArrived();
  std::string_view Call(const Request& request);

 private:
  // What is in the buffer, as Receive; empty when it has no whole reply.
  std::string_view TakeReply();
  // False when nothing has arrived and it is not to wait.
  bool Read(bool wait);

  int descriptor_ = -1;
  uint16_t port_;
  std::string buffer_;
  size_t taken_ = 0;  // of the buffer, by replies already given
};

}  // namespace tally::differential
