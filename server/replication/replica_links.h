// The replicas of this server: takes the stream of effects into the backlog, answers PSYNC with a
// part of it or with all data (replica_sync.cc), sends each replica what it lacks at the end of
// each turn (replica_sending.cc), and knows who has acknowledged what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/durability/retry_pause.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/interfaces/replication.h"
#include "server/interfaces/services.h"
#include "server/interfaces/sync_base.h"
#include "server/replication/backlog.h"
#include "server/replication/failover.h"
#include "server/replication/rdb_sender.h"
#include "server/replication/replica_link.h"

namespace tally::server {

class ReplicaLinks final : public Replicas, private EffectSink {
 public:
  // `new_id` makes ids of histories.
  ReplicaLinks(Services& server, std::function<std::string()> new_id);
  ~ReplicaLinks();
  ReplicaLinks(const ReplicaLinks&) = delete;
  ReplicaLinks& operator=(const ReplicaLinks&) = delete;

  // Called when the data is loaded: what this process writes is a history of its own, as the one
  // before it may have written, and sent to others, more than its log has. What that one was
  // sending is removed.
  void BeginHistory();
  // Called at the end of each turn, after the effects were delivered and before output is sent.
  void EndTurn();
  // Called every few dozen milliseconds.
  void Tick();
  // Whether a link has more to send, and can: the next turn must not wait for anything.
  bool HasWork() const { return has_more_; }
  // Whether a replica has acknowledged anything since the last call.
  bool TakeAcknowledged() { return std::exchange(acknowledged_, false); }

  std::string Configure(Client& client, std::string_view option, std::string_view value) override;
  void Synchronize(Client& client, const SyncRequest& request) override;
  void Acknowledge(Client& client, uint64_t offset) override;
  void NoteAlive(Client& client) override;
  void Refuse(Client& client, std::string_view why) override;
  void Forget(Client& client) override;
  uint64_t offset() const override { return server_.effects.offset(); }
  size_t Acknowledged(uint64_t offset) const override;
  void AskForAcknowledgements() override;
  bool EnoughToWrite() const override;
  void Publish(Words command) override;
  void StartBacklog() override;
  void DisconnectAll(std::string_view why) override;
  void StreamReplaced() override;
  std::string StartFailover(const FailoverRequest& request) override;
  std::string AbortFailover() override { return failover_.Abort(); }
  void HandoverEnded(bool accepted) override { failover_.HandoverEnded(accepted); }
  ReplicasState state() const override;
  uint64_t slow_bytes() const override;

 private:
  // EffectSink.
  void Receive(uint64_t offset, std::string_view effects) override;

  ReplicaLink& LinkOf(Client& client);
  // Why no replica can be served now; empty if it can.
  std::string RefuseSync(const Client& client, const SyncRequest& request);
  // Whether the request can be answered by a part of the stream.
  bool CanContinue(const ReplicaLink& link, const SyncRequest& request) const;
  // Whether the history `id` goes on with this stream at `offset`, and the stream from there on is
  // in memory or on the disk.
  bool Continues(std::string_view id, uint64_t offset) const;
  void FullSync(ReplicaLink& link, const SyncRequest& request);
  // Gives those that wait the base, if there is one from which they can go on; begins one
  // otherwise.
  void ServeWaiting();
  bool SendBase();
  void Pull();
  // What the backlog has lost is read from the logs, for a replica that lacks it.
  void OpenSource(ReplicaLink& link);
  // Closes the links that lack more of the stream than client-output-buffer-limit allows, then
  // drops what nobody needs.
  void LimitMemory();
  void ReadFromLog(ReplicaLink& link);
  bool IsOverLimit(ReplicaLink& link) const;
  void StopBacklogIfUnused();
  void KeepAlive(ReplicaLink& link, int64_t now_ms);
  void Drop(ReplicaLink& link, std::string_view why);
  bool IsGood(const ReplicaLink& link) const;
  bool HasStarted() const;

  Services& server_;
  const std::function<std::string()> new_id_;
  LinksInOrder links_;
  RdbSender rdb_sender_;
  std::optional<Backlog> backlog_;
  size_t next_ = 0;  // whose turn it is to be sent something first
  bool has_more_ = false;
  bool acknowledged_ = false;
  bool base_asked_for_ = false;
  RetryPause base_pause_;
  int64_t unused_since_ms_ = 0;  // steady ms: since then there is no replica; 0: there is one
  uint64_t last_number_ = 0;
  uint64_t full_syncs_ = 0;
  uint64_t partial_syncs_ = 0;
  uint64_t refused_partial_syncs_ = 0;
  Failover failover_;
};

}  // namespace tally::server
