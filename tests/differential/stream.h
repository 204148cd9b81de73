// Sends one stream of commands to two servers and compares what they answer, and what they tell of
// changed keys.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/generator.h"
#include "tests/differential/listener.h"
#include "tests/differential/wire.h"

namespace tally::differential {

struct Options {
  uint16_t tallyd_port = 0;
  uint16_t redis_port = 0;
  uint64_t seed = 1;
  uint64_t commands = 1'000'000;
  // After this many differences it ends; after each but the last both servers are emptied, and one
  // that looks like an earlier one is not shown again.
  uint64_t max_differences = 1;
};

class Stream {
 public:
  explicit Stream(const Options& options);

  // True when all replies agreed.
  bool Run();

 private:
  // One client of each server.
  struct Link {
    Link(const Options& options, int protocol);
    Wire ours;
    Wire theirs;
    bool in_transaction = false;  // as far as the generator knows
    std::vector<Rule> queued;     // of the commands between MULTI and EXEC
    std::string before = "*0\r\n";
  };

  void Batch(Link& link);
  void Send(Link& link, const std::vector<Step>& steps);
  void Compare(Link& link, const Step& step);
  bool SameAnswer(Link& link, const Step& step, std::string_view ours, std::string_view theirs);
  void Report(const Step& step, std::string_view ours, std::string_view theirs);
  void ShowHistory(const Request& request) const;
  void ShowTransaction() const;
  void CompareEvents(const std::vector<Step>& steps);
  void StartAfresh();

  const Options options_;
  Generator generator_;
  std::vector<std::unique_ptr<Link>> links_;
  Listener listener_;
  std::deque<Request> history_;
  uint64_t sent_ = 0;
  uint64_t compared_ = 0;
  uint64_t differences_ = 0;
  bool diverged_ = false;  // in this batch: its other replies follow from that
  std::set<std::string> shown_;
};

}  // namespace tally::differential
