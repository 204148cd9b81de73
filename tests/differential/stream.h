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

#include "tests/differential/audience.h"
#include "tests/differential/client.h"
#include "tests/differential/generator.h"
#include "tests/differential/waiters.h"

namespace tally::differential {

struct Options {
  Ports ports;
  uint64_t seed = 1;
  uint64_t commands = 1'000'000;
  // After this many differences it ends; after each but the last both servers are emptied, and one
  // that looks like an earlier one is not shown again.
  uint64_t max_differences = 1;
};

class Stream {
 public:
  explicit Stream(const Options& options);

  // True when all replies agreed. Throws when a server is gone, or does not answer.
  bool Run();
  // What was sent last, on standard output.
  void ShowLast() const;

 private:
  // A client that sends the stream.
  struct Link {
    Link(Ports ports, int protocol) : pair(ports, protocol) {}
    Pair pair;
    bool in_transaction = false;
    std::vector<Rule> queued;  // of the commands between MULTI and EXEC
    std::string before = "*0\r\n";
  };

  void Batch(Link& link);
  // What the clients beside the stream do before a batch.
  void ActBeside(Link& link);
  void Send(Link& link, const std::vector<Step>& steps);
  void Compare(Link& link, const Step& step);
  bool SameAnswer(Link& link, const Step& step, std::string_view ours, std::string_view theirs);
  void CompareMessages(const std::vector<Step>& steps);
  void NextPhase();
  uint64_t messages() const;
  void Report(const Step& step, std::string_view ours, std::string_view theirs);
  // Of what clients beside the stream have seen; `steps` is what was sent just before.
  void ReportBeside(const std::string& report, const std::vector<Step>& steps);
  void ShowHistory(const Request& request) const;
  void ShowTransaction() const;
  // Both servers emptied, no transaction open, nobody tracks or waits.
  void StartAfresh();

  const Options options_;
  Generator generator_;
  std::vector<std::unique_ptr<Link>> links_;
  Audience audience_;
  Waiters waiters_;
  Phase phase_ = kPlain;
  uint64_t next_phase_ = 0;
  std::deque<Request> history_;
  uint64_t sent_ = 0;
  uint64_t compared_ = 0;
  uint64_t differences_ = 0;
  bool diverged_ = false;  // in this batch: its other replies follow from that
  std::set<std::string> shown_;
};

}  // namespace tally::differential
