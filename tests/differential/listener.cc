#include "tests/differential/listener.h"

#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "tests/differential/reply.h"

namespace tally::differential {
namespace {

constexpr char kEvents[] = "EAn";
constexpr size_t kShownBefore = 3;

// When a key dies depends on when each server looks, before or after the events of other keys.
// That it is dead is seen in the replies.
bool IsDeath(std::string_view event) { return event.find("__:expired ") != std::string_view::npos; }

}  // namespace

Listener::Listener(uint16_t tallyd_port, uint16_t redis_port)
    : ours_(tallyd_port), theirs_(redis_port) {
  for (Wire* wire : {&ours_, &theirs_}) {
    wire->Call({"CONFIG", "SET", "notify-keyspace-events", kEvents});
    wire->Call({"PSUBSCRIBE", "__keyevent@*"});
  }
}

std::vector<std::string> Listener::Hear(Wire& wire) {
  std::string ping;
  AppendRequest(ping, {"PING"});
  wire.Send(ping);
  std::vector<std::string> events;
  for (;;) {
    const Reply message = ParseReply(wire.Receive());
    if (message.parts[0].text == "pong") break;
    std::string_view event = message.parts[2].text;
    event.remove_prefix(event.find('@') + 1);
    std::string line = StrCat(event, " ", Quoted(message.parts[3].text));
    if (!IsDeath(line)) events.push_back(std::move(line));
  }
  return events;
}

bool Listener::Agree(std::string& report) {
  const std::vector<std::string> ours = Hear(ours_);
  const std::vector<std::string> theirs = Hear(theirs_);
  heard_ += ours.size();
  if (ours == theirs) return true;
  const size_t common = std::min(ours.size(), theirs.size());
  size_t at = 0;
  while (at < common && ours[at] == theirs[at]) ++at;
  for (size_t i = at - std::min(at, kShownBefore); i < at; ++i) StrAppend(report, ours[i], "\n");
  StrAppend(report, "tallyd: ", at < ours.size() ? ours[at] : "nothing",
            "\nredis:  ", at < theirs.size() ? theirs[at] : "nothing", "\n");
  return false;
}

}  // namespace tally::differential
