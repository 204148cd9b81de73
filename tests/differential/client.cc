#include "tests/differential/client.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "tests/differential/reply.h"

namespace tally::differential {
namespace {

constexpr size_t kShownBefore = 3;

// When a key dies depends on when each server looks, before or after the events of other keys.
// That it is dead is seen in the replies.
bool IsDeath(std::string_view message) {
  return message.find("__:expired") != std::string_view::npos;
}

bool IsMessage(std::string_view reply) {
  const std::string_view head = reply.substr(0, 40);
  return head.find("message\r\n") != head.npos || head.find("invalidate\r\n") != head.npos;
}

void AppendKeys(const Reply& keys, std::vector<std::string>& names) {
  if (keys.null) names.emplace_back("all");
  for (const Reply& key : keys.parts) names.push_back(Quoted(key.text));
}

void AppendDifference(std::string& report, const std::vector<std::string>& ours,
                      const std::vector<std::string>& theirs) {
  const size_t common = std::min(ours.size(), theirs.size());
  size_t at = 0;
  while (at < common && ours[at] == theirs[at]) ++at;
  for (size_t i = at - std::min(at, kShownBefore); i < at; ++i) StrAppend(report, ours[i], "\n");
  StrAppend(report, "tallyd: ", at < ours.size() ? ours[at] : "nothing",
            "\nredis:  ", at < theirs.size() ? theirs[at] : "nothing", "\n");
}

void DropTwins(std::vector<std::string>& sorted) {
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

}  // namespace

Client::Client(uint16_t port, int protocol) : wire_(port) {
  Call({"HELLO", std::to_string(protocol)});
  id_ = std::string(ParseReply(Call({"CLIENT", "ID"})).text);
}

bool Client::Keep(std::string_view reply) {
  if ((reply[0] != '>' && reply[0] != '*') || !IsMessage(reply)) return false;
  const Reply message = ParseReply(reply);
  const std::string_view kind = message.parts[0].text;
  if (kind == "invalidate") {
    AppendKeys(message.parts[1], messages_.changed);
  } else if (kind == "message" && message.parts[1].text == "__redis__:invalidate") {
    AppendKeys(message.parts[2], messages_.changed);
  } else if (kind == "message" || kind == "pmessage" || kind == "smessage") {
    std::string line;
    for (const Reply& part : message.parts) StrAppend(line, Quoted(part.text), " ");
    if (!IsDeath(line)) messages_.published.push_back(std::move(line));
  } else {
    return false;
  }
  ++heard_;
  return true;
}

std::string_view Client::Receive() {
  for (;;) {
    const std::string_view reply = wire_.Receive();
    if (!Keep(reply)) return reply;
  }
}

std::string_view Client::ReceiveArrived() {
  for (;;) {
    const std::string_view reply = wire_.ReceiveArrived();
    if (reply.empty() || !Keep(reply)) return reply;
  }
}

std::string_view Client::Call(const Request& request) {
  std::string bytes;
  AppendRequest(bytes, request);
  Send(bytes);
  return Receive();
}

Client::Messages Client::TakeMessages() {
  std::sort(messages_.changed.begin(), messages_.changed.end());
  return std::exchange(messages_, {});
}

bool Pair::SameReplies(const Request& request) {
  const std::string_view reply = ours.Call(request);
  return reply == theirs.Call(request);
}

bool SameMessages(Pair& pair, bool as_sets, std::string& report) {
  for (Client* client : {&pair.ours, &pair.theirs}) {
    const std::string_view reply = client->ReceiveArrived();
    if (reply.empty()) continue;
    StrAppend(report, client == &pair.ours ? "tallyd" : "redis", " sent unasked: ", Quoted(reply),
              "\n");
    return false;
  }
  Client::Messages ours = pair.ours.TakeMessages();
  Client::Messages theirs = pair.theirs.TakeMessages();
  if (as_sets) {
    DropTwins(ours.changed);
    DropTwins(theirs.changed);
  }
  if (ours == theirs) return true;
  if (ours.published != theirs.published)
    AppendDifference(report, ours.published, theirs.published);
  if (ours.changed != theirs.changed) AppendDifference(report, ours.changed, theirs.changed);
  return false;
}

void AlignIds(Ports ports) {
  const auto last = [](uint16_t port) {
    const auto id = ParseInt64(Client(port, 2).id());
    Check(id.has_value(), "CLIENT ID is a number");
    return *id;
  };
  int64_t ours = last(ports.tallyd);
  int64_t theirs = last(ports.redis);
  while (ours < theirs) ours = last(ports.tallyd);
  while (theirs < ours) theirs = last(ports.redis);
}

}  // namespace tally::differential
