#include "server/state/key_tracking.h"

#include <absl/strings/string_view.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "server/resp/reply.h"

namespace tally::server {
namespace {

constexpr std::string_view kChannel = "__redis__:invalidate";

// A longer key is not remembered, because all of it would have to be kept. The client is told at
// once that the key has changed, and so does not cache it.
constexpr size_t kLongestKey = 16 * 1024;

// How many keys a turn forgets if there are too many.
constexpr size_t kForgottenAtOnce = 1000;

}  // namespace

// A message that several clients may get, rendered once for each protocol.
class KeyTracking::Message {
 public:
  using Payload = std::function<void(ReplyBuilder& reply)>;

  explicit Message(Payload payload) : payload_(std::move(payload)) {}

  const SharedBytes& For(int protocol) {
    std::optional<SharedBytes>& bytes = rendered_[protocol - 2];
    if (bytes) return *bytes;
    ByteBlocks blocks;
    ReplyBuilder reply(blocks, protocol);
    if (protocol == 3) {
      reply.Push(2);
      reply.Bulk("invalidate");
    } else {
      reply.Push(3);
      reply.Bulk("message");
      reply.Bulk(kChannel);
    }
    payload_(reply);
    return bytes.emplace(blocks.Share());
  }

 private:
  Payload payload_;
  std::optional<SharedBytes> rendered_[2];
};

void KeyTracking::Start(Client& client, const Tracking& wanted) {
  if (client.tracking == nullptr) {
    client.tracking = std::make_unique<Tracking>();
    ++tracking_clients_;
  }
  Tracking& own = *client.tracking;
  own.mode = wanted.mode;
  own.no_loop = wanted.no_loop;
  own.redirect = wanted.redirect;
  own.redirect_broken = false;
  if (wanted.mode != TrackingMode::kBroadcast) return;
  if (wanted.prefixes.empty()) Join(client, "");
  for (const std::string& prefix : wanted.prefixes) Join(client, prefix);
}

void KeyTracking::Stop(Client& client) {
  if (client.tracking == nullptr) return;
  for (const std::string& prefix : client.tracking->prefixes) Leave(client, prefix);
  client.tracking = nullptr;
  if (--tracking_clients_ == 0) read_.Clear();
}

void KeyTracking::Join(Client& client, const std::string& prefix) {
  std::unique_ptr<Prefix>& joined = prefixes_[prefix];
  if (joined == nullptr) {
    joined = std::make_unique<Prefix>();
    ++lengths_[prefix.size()];
  }
  joined->clients.emplace(client.id, &client);
  client.tracking->prefixes.insert(prefix);
}

void KeyTracking::Leave(Client& client, const std::string& prefix) {
  const auto it = prefixes_.find(prefix);
  it->second->clients.erase(client.id);
  if (!it->second->clients.empty()) return;
  if (const auto length = lengths_.find(prefix.size()); --length->second == 0) {
    lengths_.erase(length);
  }
  std::erase(waiting_, it->second.get());
  prefixes_.erase(it);
}

void KeyTracking::NoteRead(Client& client, const CommandEntry& entry, Args args) {
  if (!MayBeCached(entry)) return;
  std::vector<KeyReference> keys;
  if (!FindKeys(*entry.command, args, keys)) return;
  for (const KeyReference& key : keys) Remember(client, args[key.index]);
}

void KeyTracking::NoteScriptRead(Client& client, const CommandEntry& entry, Args keys) {
  if (!MayBeCached(entry)) return;
  for (const std::string_view key : keys) Remember(client, key);
}

void KeyTracking::EndRequest(Client& client, bool keeps_caching) {
  if (!client.transaction.active && !keeps_caching) client.tracking->caching_given = false;
}

void KeyTracking::Remember(Client& client, std::string_view key) {
  const Tracking& tracking = *client.tracking;
  if (tracking.mode == TrackingMode::kBroadcast) return;
  if (tracking.mode == TrackingMode::kOptIn && !tracking.caching_given) return;
  if (tracking.mode == TrackingMode::kOptOut && tracking.caching_given) return;
  if (key.size() > kLongestKey) {
    Message message([key](ReplyBuilder& reply) {
      reply.Array(1);
      reply.Bulk(key);
    });
    return Send(client, message);
  }
  read_.Add(key, client.id, [this](uint64_t id) { return clients_.Find(id) != nullptr; });
  if (over_limit()) [[unlikely]]
    ForgetOne();
}

void KeyTracking::ForgetOne() { Invalidate(read_.Sample(random_())); }

void KeyTracking::Changed(std::string_view key) {
  if (!prefixes_.empty()) AddToBroadcasts(key, author_);
  Invalidate(key);
}

void KeyTracking::ChangedByServer(std::string_view key) {
  if (!prefixes_.empty()) AddToBroadcasts(key, 0);
  Invalidate(key);
}

void KeyTracking::Invalidate(std::string_view key) {
  readers_.clear();
  read_.Take(key, readers_);
  if (readers_.empty()) return;
  Message message([key](ReplyBuilder& reply) {
    reply.Array(1);
    reply.Bulk(key);
  });
  for (const uint64_t id : readers_) {
    Client* const client = clients_.Find(id);
    if (client == nullptr || client->tracking == nullptr) continue;
    if (client->tracking->mode == TrackingMode::kBroadcast) continue;
    if (client->tracking->no_loop && client->state.command.running()) continue;
    Send(*client, message);
  }
}

void KeyTracking::AllChanged() {
  if (!active()) return;
  Message message([](ReplyBuilder& reply) { reply.Null(); });
  clients_.ForEach([&](Client& client) {
    if (client.tracking != nullptr) Send(client, message);
  });
  read_.Clear();
}

void KeyTracking::AddToBroadcasts(std::string_view key, uint64_t author) {
  for (const auto& [length, count] : lengths_) {
    if (length > key.size()) return;
    const auto it = prefixes_.find(absl::string_view(key.data(), length));
    if (it == prefixes_.end()) continue;
    Prefix& prefix = *it->second;
    if (prefix.changed.empty()) waiting_.push_back(&prefix);
    prefix.changed.insert_or_assign(std::string(key), author);
  }
}

void KeyTracking::FinishTurn() {
  for (size_t i = 0; i < kForgottenAtOnce && has_work(); ++i) ForgetOne();
  if (waiting_.empty()) [[likely]]
    return;
  for (Prefix* const prefix : std::exchange(waiting_, {})) SendBroadcast(*prefix);
}

void KeyTracking::SendBroadcast(Prefix& prefix) {
  const auto changed = std::exchange(prefix.changed, {});
  Message all([&](ReplyBuilder& reply) {
    reply.Array(changed.size());
    for (const auto& [key, author] : changed) reply.Bulk(key);
  });
  for (const auto& [id, client] : prefix.clients) {
    const auto is_own = [own = id](const auto& change) { return change.second == own; };
    const auto own = client->tracking->no_loop
                         ? std::count_if(changed.begin(), changed.end(), is_own)
                         : ptrdiff_t{0};
    const size_t left = changed.size() - static_cast<size_t>(own);
    Message others([&](ReplyBuilder& reply) {
      reply.Array(left);
      for (const auto& change : changed) {
        if (!is_own(change)) reply.Bulk(change.first);
      }
    });
    if (left > 0) Send(*client, own > 0 ? others : all);
  }
}

void KeyTracking::Send(Client& client, Message& message) {
  Client* receiver = &client;
  const uint64_t redirect = client.tracking->redirect;
  if (redirect != 0) {
    receiver = clients_.Find(redirect);
    if (receiver == nullptr || receiver->finished()) return TellBrokenRedirect(client);
  }
  // RESP2 has no messages between replies, but a subscriber expects some.
  const int protocol = receiver->reply.protocol();
  if (protocol == 2 && !(redirect != 0 && receiver->subscribed())) return;
  clients_.Send(*receiver, message.For(protocol));
}

void KeyTracking::TellBrokenRedirect(Client& client) {
  client.tracking->redirect_broken = true;
  if (client.reply.protocol() == 2) return;
  ByteBlocks blocks;
  ReplyBuilder reply(blocks, 3);
  reply.Push(2);
  reply.Bulk("tracking-redir-broken");
  reply.Integer(static_cast<int64_t>(client.tracking->redirect));
  clients_.Send(client, blocks.Share());
}

}  // namespace tally::server
