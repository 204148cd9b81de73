// Replication, as commands, INFO and the checks of requests see it: the primary that this server
// follows, if it follows one, and the replicas that follow it. Both at once are possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/words/word.h"

namespace tally::server {

struct Client;

// What a replica knows of its primary.
struct PrimaryState {
  enum class Link : uint8_t {
    kConnect,     // not connected; the next try comes after a pause
    kConnecting,  // the socket is being connected
    kHandshake,   // the two are agreeing on what is sent
    kSync,        // the data is coming, or is being loaded
    kConnected,   // the stream comes
  };

  std::string host;
  int64_t port = 0;
  Link link = Link::kConnect;
  uint64_t offset = 0;       // of the primary's stream, applied
  uint64_t read_offset = 0;  // the same, received
  int64_t silent_ms = -1;    // since anything came from the primary; -1: never
  int64_t down_ms = -1;      // since the link is down; -1: it never was up
  uint64_t sync_total = 0;   // bytes of the data that is coming; 0 if that is not known
  uint64_t sync_read = 0;    // of them have come
  uint64_t full_syncs = 0;   // that succeeded, since the start
  uint64_t partial_syncs = 0;
  std::string last_error;  // why the link was last down
  // It was asked to take over (FAILOVER), and its answer was lost: it may be a primary or not.
  bool handover_unanswered = false;
  uint64_t skipped = 0;  // commands of the stream that have no meaning here
};

// The primary that this server follows.
class PrimaryLink {
 public:
  // Whether a primary asks the one that it follows from now on to take its place (FAILOVER).
  // kForced: even if that one lacks some of the data.
  enum class Handover : uint8_t { kNo, kYes, kForced };

  virtual bool is_replica() const = 0;
  // Whether the stream comes, so that the data is the primary's. True for a server that is no
  // replica.
  virtual bool link_up() const = 0;
  // Whether clients may not write.
  virtual bool refuses_writes() const = 0;
  // Requires is_replica().
  virtual PrimaryState state() const = 0;
  // Follows that server from now on. Unless it is kNo, Replicas::HandoverEnded is called once, when
  // the other has answered or could not be asked.
  virtual void Follow(const std::string& host, int64_t port, Handover handover) = 0;
  // Becomes a primary with the data that is there. Does nothing if it is one.
  virtual void StopFollowing() = 0;
  // Closes the connection to the primary (CLIENT KILL TYPE master). It is made again.
  virtual bool Disconnect() = 0;

 protected:
  ~PrimaryLink() = default;
};

// A replica, as INFO and ROLE show it.
struct ReplicaState {
  enum class Stage : uint8_t { kWaiting, kSending, kOnline };

  uint64_t client_id = 0;
  std::string ip;
  int64_t port = 0;
  Stage stage = Stage::kWaiting;
  uint64_t offset = 0;         // acknowledged
  int64_t silent_ms = 0;       // since it acknowledged anything
  uint64_t waiting_bytes = 0;  // of the stream that were not sent
};

struct ReplicasState {
  std::vector<ReplicaState> replicas;  // in the order in which they came
  std::string_view failover;           // "no-failover", "waiting-for-sync", "failover-in-progress"
  bool has_backlog = false;
  uint64_t backlog_begin = 0;  // the offset of its first byte
  uint64_t backlog_bytes = 0;
  uint64_t full_syncs = 0;
  uint64_t partial_syncs = 0;
  uint64_t refused_partial_syncs = 0;
  uint64_t good_replicas = 0;  // that min-replicas-max-lag counts
};

// What a replica asks for with PSYNC, or with SYNC.
struct SyncRequest {
  std::string_view id;      // of the history that it has; "?" if it has none
  int64_t next = -1;        // the first byte that it lacks, counted from 1; -1: all
  bool takes_over = false;  // FAILOVER: the receiver is to become the primary
  bool by_force = false;    // FORCE: even if it lacks some of the data
  bool by_sync = false;     // by the command SYNC
};

struct FailoverRequest {
  std::string host;  // empty: whichever replica has all first
  int64_t port = 0;
  std::optional<int64_t> timeout_ms;
  bool force = false;
};

// The replicas that follow this server.
class Replicas {
 public:
  // One option of REPLCONF, except ACK. Returns an error, or nothing.
  virtual std::string Configure(Client& client, std::string_view option,
                                std::string_view value) = 0;
  // Replies, and makes the client a replica unless the reply is an error.
  virtual void Synchronize(Client& client, const SyncRequest& request) = 0;
  // REPLCONF ACK: the replica has applied the stream up to `offset`.
  virtual void Acknowledge(Client& client, uint64_t offset) = 0;
  // It has sent something that only says that it lives.
  virtual void NoteAlive(Client& client) = 0;
  // It has sent what no replica sends: its link ends.
  virtual void Refuse(Client& client, std::string_view why) = 0;
  // The connection of the client ends. Does nothing if it is no replica.
  virtual void Forget(Client& client) = 0;

  // How many bytes the stream has, and how many replicas have acknowledged `offset` of them.
  virtual uint64_t offset() const = 0;
  virtual size_t Acknowledged(uint64_t offset) const = 0;
  // Asks all replicas to acknowledge at once.
  virtual void AskForAcknowledgements() = 0;
  // Whether there are as many replicas as min-replicas-to-write asks for.
  virtual bool EnoughToWrite() const = 0;

  // Sends the words, a command that publishes a message, to the replicas, which run it. Who is not
  // linked at this moment does not get it.
  virtual void Publish(Words command) = 0;

  // Keeps the last part of the stream from now on: a replica needs it when it is promoted.
  virtual void StartBacklog() = 0;
  // Closes the links of all replicas, because the history that they have is not ours any more.
  virtual void DisconnectAll(std::string_view why) = 0;
  // The stream is another one from now on, at another offset: nothing that is kept of it counts.
  virtual void StreamReplaced() = 0;

  // Both return an error, or nothing.
  virtual std::string StartFailover(const FailoverRequest& request) = 0;
  virtual std::string AbortFailover() = 0;
  // The answer of the server that was asked to take over.
  virtual void HandoverEnded(bool accepted) = 0;

  virtual ReplicasState state() const = 0;
  // Bytes of the stream and of messages that are kept only because a replica is slow. They are no
  // reason to evict keys.
  virtual uint64_t slow_bytes() const = 0;

 protected:
  ~Replicas() = default;
};

}  // namespace tally::server
