#include "tests/differential/waiters.h"

#include "core/bytes/str_cat.h"
#include "tests/differential/comparison.h"
#include "tests/differential/reply.h"

namespace tally::differential {
namespace {

constexpr int kProtocols[] = {2, 3, 2};
constexpr uint64_t kEndPercent = 25;

}  // namespace

Waiters::Waiters(Ports ports) : control_(ports, 2) {
  for (const int protocol : kProtocols) {
    waiters_.push_back(std::make_unique<Waiter>(ports, protocol));
  }
}

std::vector<std::string> Waiters::ids() const {
  std::vector<std::string> ids;
  for (const auto& waiter : waiters_) ids.push_back(waiter->pair.ours.id());
  return ids;
}

bool Waiters::Act(Generator& generator, std::string& report) {
  Waiter& waiter = *waiters_[generator.Below(waiters_.size())];
  if (!waiter.waits) return Begin(waiter, generator, report);
  return generator.Below(100) >= kEndPercent || End(waiter, generator.Below(3), report);
}

std::string Waiters::Settle(Client& client, Client& control) {
  for (;;) {
    if (const std::string_view reply = client.ReceiveArrived(); !reply.empty())
      return std::string(reply);
    const std::string_view line = control.Call({"CLIENT", "LIST", "ID", client.id()});
    if (line.find(" flags=b") != line.npos) return {};
  }
}

bool Waiters::Begin(Waiter& waiter, Generator& generator, std::string& report) {
  const std::string database = std::to_string(generator.Below(3));
  waiter.request = generator.NextEndless();
  std::string bytes;
  AppendRequest(bytes, {"SELECT", database});
  AppendRequest(bytes, waiter.request);
  Pair& pair = waiter.pair;
  std::string replies[2];
  for (Client* client : {&pair.ours, &pair.theirs}) {
    const bool ours = client == &pair.ours;
    client->Send(bytes);
    client->Receive();
    replies[ours ? 0 : 1] = Settle(*client, ours ? control_.ours : control_.theirs);
  }
  waiter.waits = true;
  ++waits_;
  return Compare(waiter, replies[0], replies[1], report);
}

bool Waiters::End(Waiter& waiter, uint64_t how, std::string& report) {
  Request request{"CLIENT", "UNBLOCK", waiter.pair.ours.id()};
  if (how > 0) request.emplace_back(how == 1 ? "TIMEOUT" : "ERROR");
  if (!control_.SameReplies(request)) {
    StrAppend(report, "CLIENT UNBLOCK of ", request.back(), "\n");
    return false;
  }
  return Agree(report);
}

bool Waiters::Agree(std::string& report) {
  // What comes before its reply has been sent, if anything has.
  if (!control_.SameReplies({"PING"})) return false;
  bool same = true;
  for (const auto& waiter : waiters_) {
    const std::string ours(waiter->pair.ours.ReceiveArrived());
    const std::string theirs(waiter->pair.theirs.ReceiveArrived());
    same &= Compare(*waiter, ours, theirs, report);
  }
  return same;
}

bool Waiters::Compare(Waiter& waiter, const std::string& ours, const std::string& theirs,
                      std::string& report) {
  if (ours.empty() && theirs.empty()) return true;
  waiter.waits = ours.empty() || theirs.empty();
  ++serves_;
  if (WithoutNegativeZeros(ours) == WithoutNegativeZeros(theirs)) return true;
  StrAppend(report, "who waits in");
  for (const std::string& word : waiter.request) StrAppend(report, " ", Quoted(word));
  StrAppend(report, "\ntallyd: ", ours.empty() ? "nothing" : Quoted(ours),
            "\nredis:  ", theirs.empty() ? "nothing" : Quoted(theirs), "\n");
  return false;
}

bool Waiters::EndAll(std::string& report) {
  for (const auto& waiter : waiters_) {
    for (Client* control : {&control_.ours, &control_.theirs}) {
      control->Call({"CLIENT", "UNBLOCK", waiter->pair.ours.id()});
    }
  }
  const bool same = Agree(report);
  for (const auto& waiter : waiters_) waiter->waits = false;
  return same;
}

}  // namespace tally::differential
