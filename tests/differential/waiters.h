// Clients that wait in BLPOP and the like while others send the stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/differential/client.h"
#include "tests/differential/generator.h"

namespace tally::differential {

class Waiters {
 public:
  explicit Waiters(Ports ports);

  // One that does not wait sends a command that waits, or the wait of another is ended. False, and
  // a report, when the replies differ.
  bool Act(Generator& generator, std::string& report);
  // Whether the same were served with the same since the call before. Call when nothing runs.
  bool Agree(std::string& report);
  // Ends all waits.
  bool EndAll(std::string& report);

  uint64_t waits() const { return waits_; }
  uint64_t serves() const { return serves_; }
  std::vector<std::string> ids() const;

 private:
  struct Waiter {
    Waiter(Ports ports, int protocol) : pair(ports, protocol) {}
    Pair pair;
    bool waits = false;
    Request request;
  };

  bool Begin(Waiter& waiter, Generator& generator, std::string& report);
  bool End(Waiter& waiter, uint64_t how, std::string& report);
  // Until the client has its reply, or is shown as waiting.
  static std::string Settle(Client& client, Client& control);
  bool Compare(Waiter& waiter, const std::string& ours, const std::string& theirs,
               std::string& report);

  std::vector<std::unique_ptr<Waiter>> waiters_;
  Pair control_;
  uint64_t waits_ = 0;
  uint64_t serves_ = 0;
};

}  // namespace tally::differential
