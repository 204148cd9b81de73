// How a replica comes: what it says of itself, and the data or the part of the stream that it gets.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/words/word.h"
#include "server/interfaces/persistence.h"
#include "server/log/log.h"
#include "server/replication/replica_links.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr size_t kMaxAddress = 255;

bool IsPlainAddress(std::string_view word) {
  const auto ok = [](char c) { return c > ' ' && c < 0x7f && c != ',' && c != '='; };
  return word.size() <= kMaxAddress && std::all_of(word.begin(), word.end(), ok);
}

}  // namespace

std::string ReplicaLinks::Configure(Client& client, std::string_view option,
                                    std::string_view value) {
  if (IsWord(option, "listening-port")) {
    const auto port = ParseInt64(value);
    if (!port || *port < 0 || *port > 65535) {
      return "ERR value is not an integer or out of range";
    }
    LinkOf(client).set_port(*port);
  } else if (IsWord(option, "ip-address")) {
    if (!IsPlainAddress(value)) return "ERR REPLCONF ip-address is not an address";
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
    if (request.id != id.id()) return "ERR PSYNC FAILOVER replid must match my replid.";
    // It had all when it was chosen, and may have lost some with its power since.
    const bool has_all = request.next <= static_cast<int64_t>(server_.effects.offset()) + 1;
    if (has_all || request.by_force) return {};
    return StrCat("ERR PSYNC FAILOVER offset is beyond mine, ", server_.effects.offset());
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

}  // namespace tally::server
