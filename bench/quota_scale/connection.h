// A client's side of RESP2 over loopback TCP: commands out, whole replies in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tally::bench {

// Appends commands as arrays of bulk strings.
class CommandWriter {
 public:
  explicit CommandWriter(std::string& out) : out_(out) {}
  // Exactly `words` calls of Word() follow.
  void Begin(size_t words);
  void Word(std::string_view word);
  void Word(int64_t number);

 private:
  std::string& out_;
};

// Ends the program with a message, and what errno says.
[[noreturn]] void Die(const std::string& what);

class Connection {
 public:
  // Gives up the program when nobody listens, unless `may_fail`: then connected() says so.
  explicit Connection(int port, bool may_fail = false);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connected() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  std::string& output() { return output_; }
  // Writes what the socket takes at once.
  void Flush();
  bool flushed() const { return written_ == output_.size(); }
  // Reads what is there without waiting; false when the peer has closed.
  [[nodiscard]] bool Receive();
  // The next whole reply in wire format, empty if none is there yet. Valid until the next call.
  std::string_view NextReply();

  void Select(int database);
  // Sends a command and waits for its reply.
  std::string Call(std::initializer_list<std::string_view> words);

 private:
  void Wait(short events);

  int descriptor_ = -1;
  std::string output_;
  size_t written_ = 0;
  std::string input_;
  size_t consumed_ = 0;
};

}  // namespace tally::bench
