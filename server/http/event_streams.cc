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
  streams_.push_back(&client);
}

void EventStreams::Remove(Client& client) { std::erase(streams_, &client); }

void EventStreams::Publish(std::string_view event, std::string_view data) {
  Check(!HasLineEnd(event) && !HasLineEnd(data), "an event is one line");
  const SharedBytes message(Text(StrCat("event: ", event, "\ndata: ", data, "\n\n")));
  for (Client* client : streams_) {
    if (client->output.size() <= kMostBehind) clients_.Send(*client, message);
  }
}

}  // namespace tally::server
