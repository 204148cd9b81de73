#include "server/loop/client_output.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "server/loop/turn_budget.h"

namespace tally::server {
namespace {

// Output of at most kShortOutput bytes is sent in the turn that wrote it. Of longer output a turn
// sends about kSentBytes to all clients together; the share of one client is at least
// kLeastSentBytes.
constexpr size_t kShortOutput = 16 * 1024;
constexpr size_t kSentBytes = size_t{1} << 20;
constexpr size_t kLeastSentBytes = 64 * 1024;

}  // namespace

void ClientOutput::DropUnlogged() {
  clients_.ForEach([this](Client& client) {
    if (!client.wrote || client.state.command.running() || client.transport == nullptr) return;
    client.output.Clear();
    client.state.end.Finish();
    clients_.MarkPending(client);
  });
}

void ClientOutput::Flush() {
  clients_.TakePending(pending_);
  for (Client* client : pending_) {
    // It is marked again when its command has ended.
    if (client->state.command.running()) continue;
    client->wrote = false;
    if (client->output.size() > kShortOutput) {
      large_.push_back(client);
    } else if (client->transport->FlushOutput(kShortOutput)) {
      clients_.MarkPending(*client);
    }
  }
  if (!large_.empty()) FlushLarge();
}

// Clients that this turn did not reach go first in the next turn, before those that have more to
// send.
void ClientOutput::FlushLarge() {
  const size_t share = std::max(kSentBytes / large_.size(), kLeastSentBytes);
  const int64_t end_us = now_us_() + TurnBudget::kMicros;
  const uint64_t sent_before = stats_.net_output_bytes;
  std::vector<Client*> unfinished;
  size_t next = 0;
  while (next < large_.size() && stats_.net_output_bytes - sent_before < kSentBytes &&
         now_us_() < end_us) {
    Client* const client = large_[next++];
    if (client->transport->FlushOutput(share)) unfinished.push_back(client);
  }
  for (; next < large_.size(); ++next) clients_.MarkPending(*large_[next]);
  for (Client* client : unfinished) clients_.MarkPending(*client);
  large_.clear();
}

}  // namespace tally::server
