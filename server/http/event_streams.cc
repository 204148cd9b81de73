#include "server/http/event_streams.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/str_cat.h"
#include "core/bytes/text.h"

namespace tally::server {
namespace {

// A client with more bytes of unsent output than this misses the events that are published.
constexpr size_t kMostBehind = 256 * 1024;

bool HasLineEnd(std::string_view text) { return text.find_first_of("\r\n") != text.npos; }

}  // namespace

void EventStreams::Add(Client& client) {
  client.takes_events = true;
  clients_.LimitOutput(client);
  places_.emplace(&client, streams_.size());
  streams_.push_back(&client);
}

// The last client takes the place that becomes free; if it would get the event twice or not at all
// there, the last one that has been reached takes the place, and the last client that one's.
void EventStreams::Remove(Client& client) {
  const auto removed = places_.find(&client);
  if (removed == places_.end()) return;
  size_t free = removed->second;
  places_.erase(removed);
  const auto move_to_free = [&](size_t from) {
    if (from == free) return;
    streams_[free] = streams_[from];
    places_[streams_[free]] = free;
    free = from;
  };
  if (free < reached_) move_to_free(--reached_);
  move_to_free(streams_.size() - 1);
  streams_.pop_back();
}

void EventStreams::Publish(std::string_view event, std::string_view data) {
  Check(!HasLineEnd(event) && !HasLineEnd(data), "an event is one line");
  message_ = SharedBytes(Text(StrCat("event: ", event, "\ndata: ", data, "\n\n")));
  reached_ = 0;
  Continue();
}

void EventStreams::Continue() {
  const size_t share = std::max(kLeastAtOnce, streams_.size() / kSteps + 1);
  const size_t end = std::min(reached_ + share, streams_.size());
  for (; reached_ < end; ++reached_) {
    Client& client = *streams_[reached_];
    if (client.output.size() <= kMostBehind) clients_.Send(client, message_);
  }
}

}  // namespace tally::server
