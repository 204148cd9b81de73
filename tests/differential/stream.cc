#include "tests/differential/stream.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "core/bytes/str_cat.h"
#include "tests/differential/comparison.h"
#include "tests/differential/payloads.h"
#include "tests/differential/reply.h"

namespace tally::differential {
namespace {

constexpr size_t kBatchCommands = 300;
constexpr size_t kHistoryCommands = 20'000;
constexpr size_t kShownCommands = 15;
constexpr uint64_t kBatchesADeath = 16;
constexpr uint64_t kCommandsAPhase = 12'000;
constexpr uint64_t kExchangesABatch = 4;
constexpr size_t kWaitingBatchCommands = 30;
constexpr int kActsABatch = 2;
constexpr auto kUntilDead = std::chrono::milliseconds(30);
constexpr int kProtocols[] = {2, 3, 2, 3};

std::string NameOf(const Request& request) { return absl::AsciiStrToUpper(request[0]); }

std::string TextOf(const Request& request) {
  std::string text;
  for (const std::string& arg : request) StrAppend(text, text.empty() ? "" : " ", Quoted(arg));
  return text;
}

}  // namespace

Stream::Stream(const Options& options)
    : options_(options),
      generator_(options.seed),
      audience_((AlignIds(options.ports), options.ports)),
      waiters_(options.ports) {
  for (const int protocol : kProtocols) {
    links_.push_back(std::make_unique<Link>(options_.ports, protocol));
  }
  std::vector<std::string> clients = waiters_.ids();
  for (const auto& link : links_) clients.push_back(link->pair.ours.id());
  generator_.SetClients(audience_.ids(), std::move(clients));
}

bool Stream::Run() {
  while (sent_ < options_.commands && differences_ < options_.max_differences) {
    Batch(*links_[generator_.Below(links_.size())]);
    if (diverged_) StartAfresh();
    if (sent_ >= next_phase_) NextPhase();
  }
  const auto number = [](uint64_t count) { return static_cast<unsigned long long>(count); };
  std::printf(
      "seed %llu: %llu commands compared, %llu waits, %llu of them served, %llu events, %llu "
      "messages of channels and of tracked keys, %llu differences\n",
      number(options_.seed), number(compared_), number(waiters_.waits()), number(waiters_.serves()),
      number(audience_.events()), number(messages()), number(differences_));
  return differences_ == 0;
}

uint64_t Stream::messages() const {
  uint64_t sum = audience_.messages();
  for (const auto& link : links_) sum += link->pair.ours.heard();
  return sum;
}

void Stream::Batch(Link& link) {
  ActBeside(link);
  const size_t most = phase_ == kWaiting ? kWaitingBatchCommands : kBatchCommands;
  std::vector<Step> steps;
  while (steps.size() < most) {
    generator_.Next(phase_, link.in_transaction, steps);
    if (steps.empty() || steps.back().request.size() != 1) continue;
    const std::string name = NameOf(steps.back().request);
    if (name == "MULTI") link.in_transaction = true;
    if (name == "EXEC" || name == "DISCARD" || name == "RESET") link.in_transaction = false;
  }
  const bool with_deaths = !link.in_transaction && generator_.Below(kBatchesADeath) == 0;
  std::vector<Step> after;
  if (with_deaths) generator_.NextDeaths(steps, after);
  Send(link, steps);
  if (with_deaths) {
    std::this_thread::sleep_for(kUntilDead);
    Send(link, after);
  }
  CompareMessages(steps);
}

void Stream::ActBeside(Link& link) {
  std::string report;
  bool same = audience_.Act(generator_.random(), report);
  if (!link.in_transaction) {
    for (uint64_t i = generator_.Below(kExchangesABatch); same && i > 0; --i) {
      same = ExchangePayloads(link.pair, generator_, report);
    }
  }
  for (int i = 0; same && phase_ == kWaiting && i < kActsABatch; ++i) {
    same = waiters_.Act(generator_, report);
  }
  if (!same) ReportBeside(report, {});
  if (phase_ == kBroadcasting && !link.in_transaction && generator_.Below(3) == 0) {
    Send(link, {generator_.NextBroadcast()});
    CompareMessages({});
  }
}

void Stream::CompareMessages(const std::vector<Step>& steps) {
  std::string report;
  bool same = waiters_.Agree(report);
  const bool as_sets = phase_ == kBroadcasting;
  same &= audience_.Agree(as_sets, report);
  for (const auto& link : links_) {
    if (SameMessages(link->pair, as_sets, report)) continue;
    same = false;
    StrAppend(report, "at the client with id ", link->pair.ours.id(), "\n");
  }
  if (!same) ReportBeside(report, steps);
}

void Stream::ReportBeside(const std::string& report, const std::vector<Step>& steps) {
  if (std::exchange(diverged_, true)) return;
  ++differences_;
  // The first line is what happened before, or where they part.
  if (!shown_.insert(report.substr(std::min(report.size(), report.find("tallyd:")), 24)).second)
    return;
  std::printf("seed %llu, beside the stream before command %llu:\n%s",
              static_cast<unsigned long long>(options_.seed),
              static_cast<unsigned long long>(compared_), report.c_str());
  if (steps.size() > kShownCommands) return;
  for (const Step& step : steps) std::printf("    %s\n", TextOf(step.request).c_str());
  std::fflush(stdout);
}

void Stream::Send(Link& link, const std::vector<Step>& steps) {
  std::string bytes;
  for (const Step& step : steps) step.AppendTo(bytes);
  link.pair.ours.Send(bytes);
  link.pair.theirs.Send(bytes);
  sent_ += steps.size();
  for (const Step& step : steps) Compare(link, step);
}

void Stream::Compare(Link& link, const Step& step) {
  history_.push_back(step.request);
  if (history_.size() > kHistoryCommands) history_.pop_front();
  const std::string_view ours = link.pair.ours.Receive();
  const std::string_view theirs = link.pair.theirs.Receive();
  if (diverged_) return;
  ++compared_;
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
  const std::vector<Rule> rules =
      name == "EXEC" ? std::exchange(link.queued, {}) : std::vector<Rule>{};
  const bool resets = theirs == "+RESET\r\n" || (name == "DISCARD" && theirs == "+OK\r\n");
  if (resets) link.queued.clear();
  const auto same = [&](std::string_view one, std::string_view other) {
    return name == "EXEC" ? SameTransaction(rules, one, other)
                          : SameReply(step.rule, one, other, link.before);
  };
  return same(ours, theirs) || same(WithoutNegativeZeros(ours), WithoutNegativeZeros(theirs));
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

void Stream::ShowLast() const {
  for (size_t i = history_.size() - std::min(history_.size(), kShownCommands); i < history_.size();
       ++i) {
    std::printf("    %s\n", TextOf(history_[i]).c_str());
  }
}

void Stream::StartAfresh() {
  diverged_ = true;  // What is told of it is not compared.
  std::string ignored;
  waiters_.EndAll(ignored);
  for (const auto& link : links_) {
    for (Client* client : {&link->pair.ours, &link->pair.theirs}) {
      client->Call({"DISCARD"});
      client->Call({"UNWATCH"});
      client->Call({"CLIENT", "TRACKING", "OFF"});
      client->Call({"SELECT", "0"});
      client->Call({"FLUSHALL"});
    }
    link->in_transaction = false;
    link->queued.clear();
  }
  history_.clear();
  CompareMessages({});
  diverged_ = false;
}

void Stream::NextPhase() {
  std::string report;
  if (!waiters_.EndAll(report)) ReportBeside(report, {});
  StartAfresh();
  next_phase_ = sent_ + kCommandsAPhase;
  phase_ = phase_ == kBroadcasting ? kPlain : static_cast<Phase>(phase_ * 2);
}

}  // namespace tally::differential
