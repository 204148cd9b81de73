#include "server/replication/replica_links.h"

#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/config/config.h"
#include "server/log/log.h"
#include "server/resp/resp_command.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {

ReplicaLinks::ReplicaLinks(Services& server, std::function<std::string()> new_id)
    : server_(server), new_id_(std::move(new_id)), rdb_sender_(server, links_), failover_(server) {
  server.replicas.Fill(*this);
}

ReplicaLinks::~ReplicaLinks() {
  if (backlog_) server_.effects.Detach(*this);
}

ReplicaLink& ReplicaLinks::LinkOf(Client& client) {
  if (client.replica == nullptr) {
    links_.push_back(std::make_unique<ReplicaLink>(client, ++last_number_));
    client.replica = links_.back().get();
  }
  return *client.replica;
}

bool ReplicaLinks::HasStarted() const {
  return std::any_of(links_.begin(), links_.end(),
                     [](const auto& link) { return link->started(); });
}

void ReplicaLinks::BeginHistory() {
  rdb_sender_.RemoveLeftOver();
  if (server_.primary->is_replica()) return;
  StreamId& id = server_.stream_id;
  id.id() == StreamId::None() ? id.Adopt(new_id_()) : id.Shift(new_id_(), server_.effects.offset());
}

void ReplicaLinks::StartBacklog() {
  if (backlog_) return;
  // What was written while nobody listened has no offsets, so the history has a gap.
  if (!server_.effects.enabled()) server_.stream_id.Adopt(new_id_());
  server_.effects.Attach(*this);
  backlog_.emplace(server_.effects.offset());
}

void ReplicaLinks::StopBacklogIfUnused() {
  const bool used = !backlog_ || HasStarted() || server_.primary->is_replica();
  const int64_t now_ms = server_.clock.steady_ms();
  if (used) {
    unused_since_ms_ = 0;
  } else if (unused_since_ms_ == 0) {
    unused_since_ms_ = now_ms;
  } else if (const int64_t ttl_s = server_.config.repl_backlog_ttl;
             ttl_s > 0 && (now_ms - unused_since_ms_) / 1000 >= ttl_s) {
    server_.effects.Detach(*this);
    backlog_.reset();
    unused_since_ms_ = 0;
    server_.log.Notice("No replica has come for ", ttl_s, " seconds: the backlog is dropped");
  }
}

void ReplicaLinks::Acknowledge(Client& client, uint64_t offset) {
  if (!client.is_replica || client.finished()) return;
  ReplicaLink& link = *client.replica;
  // A replica that is being sent the data has nothing to say yet, but it lives.
  if (!link.online()) return;
  if (!link.Acknowledge(offset, server_.clock.steady_ms())) {
    return Drop(link, StrCat("it acknowledges ", offset, " bytes of the stream, and was sent ",
                             link.needs()));
  }
  acknowledged_ = true;
}

void ReplicaLinks::NoteAlive(Client& client) {
  if (client.replica != nullptr) client.replica->NoteAlive(server_.clock.steady_ms());
}

void ReplicaLinks::Refuse(Client& client, std::string_view why) {
  if (client.replica != nullptr && !client.finished()) Drop(*client.replica, why);
}

void ReplicaLinks::Forget(Client& client) {
  if (client.replica == nullptr) return;
  if (client.is_replica) {
    server_.log.Notice("The link of replica ", client.replica->name(), " has ended");
  }
  std::erase_if(links_, [&](const auto& link) { return link.get() == client.replica; });
  client.replica = nullptr;
  next_ = 0;
}

void ReplicaLinks::Drop(ReplicaLink& link, std::string_view why) {
  Client& client = link.client();
  server_.log.Warning("The link of replica ", link.name(), " is closed: ", why);
  client.output.Clear();
  client.state.end.Finish();
  server_.clients.MarkPending(client);
}

void ReplicaLinks::DisconnectAll(std::string_view why) {
  for (const auto& link : links_) {
    if (link->started() && !link->client().finished()) Drop(*link, why);
  }
}

void ReplicaLinks::StreamReplaced() {
  DisconnectAll("the data of this server was replaced");
  if (backlog_) backlog_.emplace(server_.effects.offset());
}

size_t ReplicaLinks::Acknowledged(uint64_t offset) const {
  return static_cast<size_t>(std::count_if(links_.begin(), links_.end(), [&](const auto& link) {
    return link->online() && !link->client().finished() && link->acknowledged() >= offset;
  }));
}

void ReplicaLinks::Publish(Words command) {
  std::shared_ptr<const std::string> encoded;
  for (const auto& link : links_) {
    if (!link->online() || link->client().finished()) continue;
    if (encoded == nullptr) {
      std::string bytes;
      AppendRespCommand(bytes, command);
      encoded = std::make_shared<const std::string>(std::move(bytes));
    }
    link->Publish(server_.effects.offset(), encoded);
  }
}

void ReplicaLinks::AskForAcknowledgements() {
  for (const auto& link : links_) {
    if (link->online() && !link->client().finished()) link->AskAt(server_.effects.offset());
  }
}

bool ReplicaLinks::IsGood(const ReplicaLink& link) const {
  const int64_t lag_ms = server_.clock.steady_ms() - link.acknowledged_ms();
  return link.online() && !link.client().finished() &&
         lag_ms <= server_.config.min_replicas_max_lag * 1000;
}

bool ReplicaLinks::EnoughToWrite() const {
  const int64_t least = server_.config.min_replicas_to_write;
  if (least == 0 || server_.config.min_replicas_max_lag == 0) return true;
  return std::count_if(links_.begin(), links_.end(),
                       [this](const auto& link) { return IsGood(*link); }) >= least;
}

std::string ReplicaLinks::StartFailover(const FailoverRequest& request) {
  if (failover_.state() != Failover::State::kNone) return "ERR FAILOVER already in progress.";
  if (server_.primary->is_replica()) return "ERR FAILOVER is not valid when server is a replica.";
  if (!HasStarted()) return "ERR FAILOVER requires connected replicas.";
  if (request.force && (!request.timeout_ms || request.host.empty())) {
    return "ERR FAILOVER with force option requires both a timeout and target host and port.";
  }
  if (!request.host.empty()) {
    const auto target = std::find_if(links_.begin(), links_.end(), [&](const auto& link) {
      return link->started() && link->port() == request.port && link->ip() == request.host;
    });
    if (target == links_.end()) return "ERR FAILOVER target HOST and PORT is not a replica.";
    if (!(*target)->online()) return "ERR FAILOVER target replica is not online.";
  }
  failover_.Start(request);
  AskForAcknowledgements();
  return {};
}

// The links share what waits for them.
uint64_t ReplicaLinks::slow_bytes() const {
  if (!backlog_) return 0;
  const auto kept = static_cast<uint64_t>(server_.config.repl_backlog_size);
  uint64_t messages = 0;
  for (const auto& link : links_) messages = std::max(messages, link->message_bytes());
  return backlog_->bytes() - std::min(backlog_->bytes(), kept) + messages;
}

ReplicasState ReplicaLinks::state() const {
  ReplicasState state;
  const int64_t now_ms = server_.clock.steady_ms();
  for (const auto& link : links_) {
    if (!link->started() || link->client().finished()) continue;
    const uint64_t end = backlog_->end();
    state.replicas.push_back({.client_id = link->client().id,
                              .ip = link->ip(),
                              .port = link->port(),
                              .stage = link->stage(),
                              .offset = link->acknowledged(),
                              .silent_ms = now_ms - link->acknowledged_ms(),
                              .waiting_bytes = end - std::min(link->needs(), end)});
    state.good_replicas += IsGood(*link) ? 1 : 0;
  }
  state.failover = failover_.word();
  state.has_backlog = backlog_.has_value();
  if (backlog_) {
    state.backlog_begin = backlog_->begin();
    state.backlog_bytes = backlog_->bytes();
  }
  state.full_syncs = full_syncs_;
  state.partial_syncs = partial_syncs_;
  state.refused_partial_syncs = refused_partial_syncs_;
  return state;
}

}  // namespace tally::server
