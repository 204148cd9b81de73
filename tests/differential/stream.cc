#include "tests/differential/stream.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "core/bytes/str_cat.h"
#include "tests/differential/comparison.h"
#include "tests/differential/reply.h"

namespace tally::differential {
namespace {

constexpr size_t kBatchCommands = 300;
constexpr size_t kHistoryCommands = 20'000;
constexpr size_t kShownCommands = 15;
constexpr uint64_t kBatchesADeath = 16;
constexpr auto kUntilDead = std::chrono::milliseconds(30);
constexpr int kProtocols[] = {2, 3, 2, 3};

std::string NameOf(const Request& request) { return absl::AsciiStrToUpper(request[0]); }

std::string TextOf(const Request& request) {
  std::string text;
  for (const std::string& arg : request) StrAppend(text, text.empty() ? "" : " ", Quoted(arg));
  return text;
}

}  // namespace

Stream::Link::Link(const Options& options, int protocol)
    : ours(options.tallyd_port), theirs(options.redis_port) {
  for (Wire* wire : {&ours, &theirs}) wire->Call({"HELLO", std::to_string(protocol)});
}

Stream::Stream(const Options& options)
    : options_(options),
      generator_(options.seed),
      listener_(options.tallyd_port, options.redis_port) {
  for (const int protocol : kProtocols) {
    links_.push_back(std::make_unique<Link>(options_, protocol));
  }
}

bool Stream::Run() {
  while (sent_ < options_.commands && differences_ < options_.max_differences) {
    Batch(*links_[generator_.Below(links_.size())]);
    if (diverged_) StartAfresh();
  }
  std::printf("seed %llu: %llu commands and %llu events compared, %llu differences\n",
              static_cast<unsigned long long>(options_.seed),
              static_cast<unsigned long long>(compared_),
              static_cast<unsigned long long>(listener_.heard()),
              static_cast<unsigned long long>(differences_));
  return differences_ == 0;
}

void Stream::Batch(Link& link) {
  std::vector<Step> steps;
  while (steps.size() < kBatchCommands) {
    generator_.Next(link.in_transaction, steps);
    const std::string name = NameOf(steps.back().request);
    if (name == "MULTI") link.in_transaction = true;
    const bool discards = name == "DISCARD" && steps.back().request.size() == 1;
    if (name == "EXEC" || discards) link.in_transaction = false;
  }
  const bool with_deaths = !link.in_transaction && generator_.Below(kBatchesADeath) == 0;
  std::vector<Step> after;
  if (with_deaths) generator_.NextDeaths(steps, after);
  Send(link, steps);
  if (with_deaths) {
    std::this_thread::sleep_for(kUntilDead);
    Send(link, after);
  }
  CompareEvents(steps);
}

void Stream::CompareEvents(const std::vector<Step>& steps) {
  std::string report;
  if (listener_.Agree(report) || diverged_) return;
  diverged_ = true;
  ++differences_;
  // The first line is what happened before, or where they part.
  if (!shown_.insert(report.substr(report.find("tallyd:"), 24)).second) return;
  std::printf("seed %llu, events before command %llu differ:\n%s",
              static_cast<unsigned long long>(options_.seed),
              static_cast<unsigned long long>(compared_), report.c_str());
  if (steps.size() > kShownCommands) return;
  for (const Step& step : steps) std::printf("    %s\n", TextOf(step.request).c_str());
}

void Stream::Send(Link& link, const std::vector<Step>& steps) {
  std::string bytes;
  for (const Step& step : steps) step.AppendTo(bytes);
  link.ours.Send(bytes);
  link.theirs.Send(bytes);
  sent_ += steps.size();
  for (const Step& step : steps) Compare(link, step);
}

void Stream::Compare(Link& link, const Step& step) {
  const std::string_view ours = link.ours.Receive();
  const std::string_view theirs = link.theirs.Receive();
  if (diverged_) return;
  ++compared_;
  history_.push_back(step.request);
  if (history_.size() > kHistoryCommands) history_.pop_front();
  if (!SameAnswer(link, step, ours, theirs)) {
    diverged_ = true;
    Report(step, ours, theirs);
  }
  link.before = ours;
}

bool Stream::SameAnswer(Link& link, const Step& step, std::string_view ours,
                        std::string_view theirs) {
  const std::string name = NameOf(step.request);
  if (theirs == "+QUEUED\r\n") link.queued.push_back(step.rule);
  std::string own, other;
  if (ours != theirs && (name[0] == 'Z' || name == "EXEC")) {
    ours = own = WithoutNegativeZeros(ours);
    theirs = other = WithoutNegativeZeros(theirs);
  }
  if (name == "EXEC") {
    const std::vector<Rule> rules = std::exchange(link.queued, {});
    return SameTransaction(rules, ours, theirs);
  }
  if (name == "DISCARD" && theirs == "+OK\r\n") link.queued.clear();
  return SameReply(step.rule, ours, theirs, link.before);
}

void Stream::Report(const Step& step, std::string_view ours, std::string_view theirs) {
  ++differences_;
  const std::string kind =
      StrCat(NameOf(step.request), " ", ours.substr(0, ours[0] == '-' ? 24 : 1), " ",
             theirs.substr(0, theirs[0] == '-' ? 24 : 1));
  if (!shown_.insert(kind).second) return;
  std::printf("seed %llu, command %llu: %s%s\n  tallyd: %s\n  redis:  %s\n",
              static_cast<unsigned long long>(options_.seed),
              static_cast<unsigned long long>(compared_), TextOf(step.request).c_str(),
              step.is_inline ? " (inline)" : "", Quoted(ours).c_str(), Quoted(theirs).c_str());
  ShowHistory(step.request);
  std::fflush(stdout);
}

void Stream::ShowTransaction() const {
  auto it = history_.rbegin();
  while (it != history_.rend() && NameOf(*it) != "MULTI") ++it;
  while (it-- != history_.rbegin()) std::printf("    %s\n", TextOf(*it).c_str());
}

void Stream::ShowHistory(const Request& request) const {
  if (NameOf(request) == "EXEC") return ShowTransaction();
  if (request.size() < 2) return;
  std::vector<std::string> lines;
  for (auto it = history_.rbegin() + 1; it < history_.rend(); ++it) {
    if (lines.size() == kShownCommands) break;
    const bool related = std::any_of(it->begin() + 1, it->end(), [&](const std::string& arg) {
      return arg.find(':') != std::string::npos &&
             std::find(request.begin() + 1, request.end(), arg) != request.end();
    });
    if (related) lines.push_back(TextOf(*it));
  }
  for (auto it = lines.rbegin(); it != lines.rend(); ++it) std::printf("    %s\n", it->c_str());
}

void Stream::StartAfresh() {
  diverged_ = false;
  for (const auto& link : links_) {
    for (Wire* wire : {&link->ours, &link->theirs}) {
      wire->Call({"DISCARD"});
      wire->Call({"UNWATCH"});
      wire->Call({"SELECT", "0"});
      wire->Call({"FLUSHALL"});
    }
    link->in_transaction = false;
    link->queued.clear();
  }
  history_.clear();
  std::string ignored;
  listener_.Agree(ignored);
}

}  // namespace tally::differential
