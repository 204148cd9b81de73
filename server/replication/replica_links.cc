#include "server/replication/replica_links.h"

#include <algorithm>
#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/words/word.h"
#include "server/aof/log_format.h"
#include "server/config/config.h"
#include "server/interfaces/persistence.h"
#include "server/log/log.h"
#include "server/resp/resp_command.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// What one turn puts into the outputs of all replicas together, and the most that the output of one
// holds.
constexpr size_t kTurnBytes = size_t{1} << 20;
constexpr size_t kOutputBytes = 128 * 1024;

constexpr size_t kMaxAddress = 255;

bool IsAddress(std::string_view word) {
  const auto ok = [](char c) { return c > ' ' && c < 0x7f && c != ',' && c != '='; };
  return word.size() <= kMaxAddress && std::all_of(word.begin(), word.end(), ok);
}

}  // namespace

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

std::string ReplicaLinks::Configure(Client& client, std::string_view option,
                                    std::string_view value) {
  if (IsWord(option, "listening-port")) {
    const auto port = ParseInt64(value);
    if (!port || *port < 0 || *port > 65535) {
      return "ERR value is not an integer or out of range";
    }
    LinkOf(client).set_port(*port);
  } else if (IsWord(option, "ip-address")) {
    if (!IsAddress(value)) return "ERR REPLCONF ip-address is not an address";
    LinkOf(client).set_ip(std::string(value));
  } else if (IsWord(option, "capa")) {
    if (IsWord(value, "tallyd")) LinkOf(client).set_speaks_frames();
  } else if (IsWord(option, "rdb-only")) {
    if (value != "0" && value != "1") return "ERR value is out of range";
    LinkOf(client).set_wants_rdb(value == "1");
  } else if (IsWord(option, "earlier")) {
    const std::string_view id = value.substr(0, StreamId::kDigits);
    const auto end = ParseInt64(value.substr(std::min(value.size(), id.size() + 1)));
    if (!StreamId::IsId(id) || !end || *end < 0) return "ERR REPLCONF earlier is no id and offset";
    LinkOf(client).set_earlier(std::string(id), static_cast<uint64_t>(*end));
  } else if (!IsWord(option, "version")) {
    return StrCat("ERR Unrecognized REPLCONF option: ", option);
  }
  return {};
}

std::string ReplicaLinks::RefuseSync(const Client& client, const SyncRequest& request) {
  const bool gets_messages = client.subscribed() || client.monitor || client.tracking != nullptr;
  if (gets_messages) return "ERR a connection that gets messages cannot become a replica";
  const StreamId& id = server_.stream_id;
  if (request.takes_over && server_.primary->is_replica()) {
    if (request.id == id.id()) return {};
    return "ERR PSYNC FAILOVER replid must match my replid.";
  }
  // Who has taken over and is asked again has given an answer that was lost.
  if (request.takes_over && !(id.has_previous() && request.id == id.previous())) {
    return "ERR PSYNC FAILOVER can't be sent to a master.";
  }
  if (failover_.state() != Failover::State::kNone) {
    return "NOMASTERLINK Can't SYNC while failing over";
  }
  if (!server_.primary->link_up()) {
    return "NOMASTERLINK Can't SYNC while not connected with my master";
  }
  return {};
}

bool ReplicaLinks::CanContinue(const ReplicaLink& link, const SyncRequest& request) const {
  if (request.next < 1 || request.by_sync) return false;
  const auto offset = static_cast<uint64_t>(request.next) - 1;
  const bool has_earlier = !link.earlier_id().empty() && offset <= link.earlier_end();
  return Continues(request.id, offset) || (has_earlier && Continues(link.earlier_id(), offset));
}

bool ReplicaLinks::Continues(std::string_view id, uint64_t offset) const {
  return server_.stream_id.Continues(id, offset, backlog_->end()) &&
         (backlog_->Has(offset) || server_.persistence->OpenStream(offset).ok());
}

void ReplicaLinks::Synchronize(Client& client, const SyncRequest& request) {
  if (client.is_replica) return;
  if (const std::string refusal = RefuseSync(client, request); !refusal.empty()) {
    return client.reply.Error(refusal);
  }
  ReplicaLink& link = LinkOf(client);
  if (!link.speaks_frames() && !link.wants_rdb()) {
    return client.reply.Error(
        "ERR only a tallyd can be a replica of this server (REPLCONF capa tallyd); REPLCONF "
        "rdb-only 1 asks for an RDB without what follows");
  }
  if (link.wants_rdb() && request.takes_over) {
    return client.reply.Error("ERR PSYNC FAILOVER is not for an RDB only (REPLCONF rdb-only)");
  }
  if (request.takes_over && server_.primary->is_replica()) {
    server_.log.Notice("The primary asks this server to take over: ", link.name());
    server_.primary->StopFollowing();
  }
  StartBacklog();
  client.is_replica = true;
  client.reply_mode = ReplyMode::kOn;
  client.state.reads_beside_output = true;
  server_.clients.LimitOutput(client);
  unused_since_ms_ = 0;
  if (link.wants_rdb()) {
    std::string head;
    if (!request.by_sync) {
      head = StrCat("+FULLRESYNC ", server_.stream_id.id(), " ", server_.effects.offset(), "\r\n");
    }
    server_.log.Notice(link.name(), " asks for an RDB");
    return link.WaitForRdb(std::move(head), server_.clock.steady_ms());
  }
  if (!CanContinue(link, request)) return FullSync(link, request);
  const auto offset = static_cast<uint64_t>(request.next) - 1;
  ++partial_syncs_;
  client.reply.Status(StrCat("CONTINUE ", server_.stream_id.id()));
  link.Continue(offset, server_.clock.steady_ms());
  server_.log.Notice("Replica ", link.name(), " goes on at offset ", offset, ", ",
                     backlog_->end() - offset, " bytes before the end");
}

void ReplicaLinks::FullSync(ReplicaLink& link, const SyncRequest& request) {
  ++full_syncs_;
  std::string why = "it has no data yet";
  if (request.next >= 1 && request.id != "?") {
    ++refused_partial_syncs_;
    why = StrCat("it asked for ", request.id.substr(0, StreamId::kDigits), " from byte ",
                 request.next, ", and this server has ", server_.stream_id.id(), " from byte ",
                 backlog_->begin() + 1, " to ", backlog_->end());
  }
  server_.log.Notice("Replica ", link.name(), " needs all data: ", why);
  link.Wait(backlog_->end(), server_.clock.steady_ms());
}

void ReplicaLinks::ServeWaiting() {
  const bool waits = std::any_of(links_.begin(), links_.end(), [](const auto& link) {
    return link->waits() && !link->client().finished();
  });
  if (!waits || server_.persistence->rewriting()) return;
  if (SendBase()) {
    base_asked_for_ = false;
    return base_pause_.Succeeded();
  }
  const int64_t now_ms = server_.clock.steady_ms();
  if (std::exchange(base_asked_for_, false)) base_pause_.Failed(now_ms);
  if (!base_pause_.IsDue(now_ms)) return;
  const absl::Status begun = server_.persistence->StartRewrite();
  base_asked_for_ = begun.ok();
  if (begun.ok()) return;
  server_.log.Warning("No base can be written for a replica: ", std::string(begun.message()));
  base_pause_.Failed(now_ms);
}

bool ReplicaLinks::SendBase() {
  auto opened = server_.persistence->OpenBase();
  if (!opened.ok() || !Continues(opened->id, opened->offset)) return false;
  const auto base = std::make_shared<const SyncBase>(std::move(*opened));
  for (const auto& link : links_) {
    if (!link->waits() || link->client().finished()) continue;
    Client& client = link->client();
    client.output.Append(StrCat("+FULLRESYNC ", server_.stream_id.id(), " ", base->offset, "\r\n"));
    link->SendBase(base, server_.clock.steady_ms());
    server_.clients.MarkPending(client);
    server_.log.Notice("Replica ", link->name(), " is sent ", base->bytes,
                       " bytes of data, and the stream from offset ", base->offset);
  }
  return true;
}

void ReplicaLinks::Receive(uint64_t, std::string_view effects) {
  size_t database = server_.effects.database_before();
  while (!effects.empty()) {
    const std::string_view some = FirstCommands(effects, kMaxFrameBytes);
    backlog_->Append(database, some);
    effects.remove_prefix(some.size());
  }
}

void ReplicaLinks::EndTurn() {
  has_more_ = false;
  if (!backlog_ || links_.empty()) {
    if (backlog_)
      backlog_->Trim(static_cast<uint64_t>(server_.config.repl_backlog_size), UINT64_MAX);
    return;
  }
  ServeWaiting();
  rdb_sender_.Serve();
  Pull();
  LimitMemory();
  if (failover_.state() != Failover::State::kWaiting) return;
  for (const auto& link : links_) {
    const bool has_all = link->online() && link->acknowledged() == server_.effects.offset();
    if (has_all && failover_.Targets(link->ip(), link->port())) {
      return failover_.TargetHasAll(link->ip(), link->port());
    }
  }
}

// The links take turns at being first, as one turn may not reach all of them.
void ReplicaLinks::Pull() {
  const int64_t now_ms = server_.clock.steady_ms();
  size_t left = kTurnBytes;
  const size_t count = links_.size();
  for (size_t i = 0; i < count; ++i) {
    ReplicaLink& link = *links_[(next_ + i) % count];
    Client& client = link.client();
    if (!link.started() || client.finished() || client.state.output.blocked()) continue;
    if (left == 0) {
      next_ = (next_ + i) % count;
      has_more_ = true;
      return;
    }
    const size_t held = client.output.size();
    const auto pulled = link.Pull(*backlog_, std::min(kOutputBytes, held + left), now_ms);
    const size_t more = client.output.size() - std::min(held, client.output.size());
    left -= std::min(left, more);
    if (more > 0) server_.clients.MarkPending(client);
    has_more_ |= pulled == ReplicaLink::Pulled::kSome;
    if (pulled == ReplicaLink::Pulled::kTooLate) OpenSource(link);
    if (pulled == ReplicaLink::Pulled::kRdbSent) {
      client.state.end.Finish();
      server_.clients.MarkPending(client);
    }
    if (pulled == ReplicaLink::Pulled::kBadFile) {
      Drop(link, StrCat("what it lacks cannot be read: ", link.error()));
    }
  }
}

void ReplicaLinks::OpenSource(ReplicaLink& link) {
  auto source = server_.persistence->OpenStream(link.next_frame());
  if (!source.ok()) {
    return Drop(link, StrCat("it is too far behind: ", std::string(source.status().message())));
  }
  link.set_source(std::move(*source));
  has_more_ = true;
}

// The logs have what memory may not keep for it.
void ReplicaLinks::ReadFromLog(ReplicaLink& link) {
  // One that waits for a base needs only what follows that.
  if (link.waits() && server_.config.appendonly) return;
  if (auto source = server_.persistence->OpenStream(link.next_frame()); source.ok()) {
    return link.set_source(std::move(*source));
  }
  Drop(link, StrCat("it lacks ", backlog_->end() - link.needs(),
                    " bytes of the stream (client-output-buffer-limit)"));
}

bool ReplicaLinks::IsOverLimit(ReplicaLink& link) const {
  const OutputBufferLimit& limit =
      server_.config.client_output_buffer_limit[static_cast<size_t>(ClientClass::kReplica)];
  // The backlog is kept anyway.
  const int64_t least = server_.config.repl_backlog_size;
  const auto lacks =
      static_cast<int64_t>(backlog_->end() - std::min(link.needs(), backlog_->end()));
  if (limit.hard != 0 && lacks > std::max(limit.hard, least)) return true;
  if (limit.soft == 0 || lacks <= std::max(limit.soft, least)) {
    link.over_soft_limit_since_ms = 0;
    return false;
  }
  const int64_t now_ms = server_.clock.steady_ms();
  if (link.over_soft_limit_since_ms == 0) link.over_soft_limit_since_ms = now_ms;
  return (now_ms - link.over_soft_limit_since_ms) / 1000 > limit.soft_seconds;
}

void ReplicaLinks::LimitMemory() {
  uint64_t needed = UINT64_MAX;
  for (const auto& link : links_) {
    if (!link->started() || link->client().finished() || link->reads_source()) continue;
    if (IsOverLimit(*link)) {
      ReadFromLog(*link);
      continue;
    }
    needed = std::min(needed, link->needs());
  }
  backlog_->Trim(static_cast<uint64_t>(server_.config.repl_backlog_size), needed);
}

void ReplicaLinks::Tick() {
  failover_.Tick();
  const bool asks = failover_.state() == Failover::State::kWaiting;
  if (asks) AskForAcknowledgements();
  const int64_t now_ms = server_.clock.steady_ms();
  for (const auto& link : links_) {
    if (link->started() && !link->client().finished()) KeepAlive(*link, now_ms);
  }
  StopBacklogIfUnused();
}

void ReplicaLinks::KeepAlive(ReplicaLink& link, int64_t now_ms) {
  const int64_t timeout_ms = server_.config.repl_timeout * 1000;
  const bool sending = link.stage() == ReplicaLink::Stage::kSending;
  if (link.online() && now_ms - link.acknowledged_ms() > timeout_ms) {
    return Drop(link, "it has acknowledged nothing for repl-timeout");
  }
  if (sending && now_ms - link.taken_ms() > timeout_ms) {
    return Drop(link, "it has taken nothing for repl-timeout");
  }
  const int64_t pause_ms = link.stage() == ReplicaLink::Stage::kWaiting
                               ? 1000
                               : server_.config.repl_ping_replica_period * 1000;
  if (now_ms - link.sent_ms() < pause_ms) return;
  link.SendKeepAlive(*backlog_, now_ms);
  server_.clients.MarkPending(link.client());
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
  } else if (const int64_t ttl = server_.config.repl_backlog_ttl;
             ttl > 0 && (now_ms - unused_since_ms_) / 1000 >= ttl) {
    server_.effects.Detach(*this);
    backlog_.reset();
    unused_since_ms_ = 0;
    server_.log.Notice("No replica has come for ", ttl, " seconds: the backlog is dropped");
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
