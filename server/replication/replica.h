// Being a replica: connects to the primary, asks for what is missing, takes over its data and
// follows its stream; tries again after pauses when any of this fails; and becomes a primary when
// it is told to. What it does in each stage of its link is in replica_stages.cc.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/aof/file_system.h"
#include "server/durability/aof_persistence.h"
#include "server/durability/retry_pause.h"
#include "server/interfaces/replication.h"
#include "server/interfaces/services.h"
#include "server/net/event_poller.h"
#include "server/net/peer_socket.h"
#include "server/replication/data_position.h"
#include "server/replication/full_sync.h"
#include "server/replication/primary_handshake.h"
#include "server/replication/primary_stream.h"

namespace tally::server {

class StreamFollower;

class Replica final : public PrimaryLink {
 public:
  struct Parts {
    Services& server;
    AofPersistence& persistence;
    FileSystem& files;
    EventPoller& poller;
    std::function<std::string()> new_id;  // makes ids of histories
    Dial dial = DialSocket;
    // About so long a turn receives, checks and applies.
    int64_t slice_us = 1000;
  };
  explicit Replica(const Parts& parts);

  // Takes the role that the configuration says. To be called before the data is loaded.
  void Start();
  // At each tick of PeriodicWork.
  void Tick();
  // Whether Serve has something to do now.
  bool HasWork() const;
  // Once a turn: goes on with what is under way.
  void Serve();
  // At the end of a turn whose effects are in the log: only then is anything acknowledged.
  void EndTurn();
  // The next try begins at once: a setting has changed, on which it may depend.
  void RetryNow();

  // PrimaryLink
  bool is_replica() const override { return server_.role.is_replica; }
  bool link_up() const override { return !is_replica() || server_.role.link_up; }
  bool refuses_writes() const override;
  PrimaryState state() const override;
  void Follow(const std::string& host, int64_t port, Handover handover) override;
  void StopFollowing() override;
  bool Disconnect() override;

 private:
  enum class Stage : uint8_t {
    kPause,       // until next_try_ms_; also while this is a primary
    kConnecting,  // the socket is
    kHandshake,
    kReceiving,  // the data comes
    kChecking,   // it has come, and is checked
    kLoading,    // it replaces what was here
    kStream,     // the stream comes and is applied
  };
  // See PrimaryLink::Handover. kUnanswered: the other was asked, and its answer was lost, so it may
  // be the primary.
  enum class HandingOver : uint8_t { kNo, kYes, kUnanswered };
  // Why replicas of this server are sent away: they ask again, and are told the id.
  static constexpr std::string_view kNewHistory = "its history has a new id";
  // How soon the next try comes.
  enum class Next : uint8_t { kAtOnce, kSoon, kGrowing };

  void Connect();
  void BeginHandshake();
  void Shake();
  absl::StatusOr<PrimaryHandshake::Answer> TakeLines();
  void Receive();
  void Check();
  void FinishLoading();
  void BeginOwnHistory();
  void BeginStream();
  void EndHandover(bool accepted);
  bool MayHaveTakenOver() const;
  void FollowStream();
  // Reads once. False if there is nothing at present, or the link was dropped.
  bool ReadSome(std::string_view& bytes);
  bool MayApply() const;
  void Acknowledge();
  bool LeadsToItself() const;
  // Ends the connection and what it had begun.
  void Close();
  void Drop(const absl::Status& why, Next next);

  const Parts parts_;
  Services& server_;
  Stage stage_ = Stage::kPause;
  PeerSocket socket_;
  std::vector<char> buffer_;
  std::string received_;  // read, and not used yet
  std::optional<PrimaryHandshake> handshake_;
  DataPosition position_;
  FullSync full_sync_;
  std::unique_ptr<PrimaryStream> stream_;  // null unless the stream comes
  StreamFollower* redis_ = nullptr;        // it, if it is that of a Redis
  bool more_to_apply_ = false;
  bool ack_wanted_ = false;

  HandingOver hands_over_ = HandingOver::kNo;
  bool by_force_ = false;         // it does, even to one that lacks some of the data
  bool becomes_primary_ = false;  // when the data is loaded

  // Times are of the steady clock.
  int64_t next_try_ms_ = 0;
  int64_t last_io_ms_ = 0;
  int64_t last_ack_ms_ = 0;
  int64_t up_since_ms_ = 0;
  int64_t down_since_ms_ = -1;  // -1: the link never was up
  RetryPause pause_;
  uint64_t full_syncs_ = 0;
  uint64_t partial_syncs_ = 0;
  uint64_t skipped_ = 0;  // in earlier links
  std::string last_error_;
};

}  // namespace tally::server
