// The link to one replica: what it has said of itself, and how far it has been sent the data and
// the stream. It puts bytes into the output of the replica's connection, never more than a few at
// once, so that a replica which does not read costs no memory of its own: what it lacks is in the
// backlog, which all links share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "server/interfaces/replication.h"
#include "server/interfaces/stream_source.h"
#include "server/interfaces/sync_base.h"
#include "server/replication/backlog.h"
#include "server/replication/stream_frame.h"
#include "server/state/client.h"

namespace tally::server {

class ReplicaLink {
 public:
  using Stage = ReplicaState::Stage;

  ReplicaLink(Client& client, uint64_t number) : client_(client), number_(number) {}
  ReplicaLink(const ReplicaLink&) = delete;
  ReplicaLink& operator=(const ReplicaLink&) = delete;

  Client& client() const { return client_; }
  uint64_t number() const { return number_; }

  // What REPLCONF has said.
  void set_port(int64_t port) { port_ = port; }
  void set_ip(std::string ip) { ip_ = std::move(ip); }
  void set_speaks_frames() { speaks_frames_ = true; }
  void set_wants_rdb(bool wants) { wants_rdb_ = wants; }
  void set_earlier(std::string id, uint64_t end) {
    earlier_id_ = std::move(id);
    earlier_end_ = end;
  }
  // The id that its history had before, and up to where; empty if it has named none.
  const std::string& earlier_id() const { return earlier_id_; }
  uint64_t earlier_end() const { return earlier_end_; }
  bool speaks_frames() const { return speaks_frames_; }
  // It takes the data as an RDB, and nothing after that.
  bool wants_rdb() const { return wants_rdb_; }
  int64_t port() const { return port_; }
  // What it has announced, or where it comes from.
  std::string ip() const;
  // What the log calls it: where it listens, or else where it comes from.
  std::string name() const;

  // It has sent PSYNC, and its output is the stream from now on.
  bool started() const { return started_; }
  Stage stage() const { return stage_; }
  bool online() const { return started_ && stage_ == Stage::kOnline; }
  bool waits() const { return started_ && stage_ == Stage::kWaiting && !wants_rdb_; }
  bool waits_for_rdb() const { return started_ && stage_ == Stage::kWaiting && wants_rdb_; }

  // It waits for a base that begins at `offset` or later.
  void Wait(uint64_t offset, int64_t now_ms);
  // It waits for an RDB that is begun after this. `head` is sent before that.
  void WaitForRdb(std::string head, int64_t now_ms);
  // An RDB is begun for all who wait.
  void NoteRdbBegun() { rdb_begun_ = true; }
  bool rdb_begun() const { return rdb_begun_; }
  // Sends the base, and then the stream from where the base was begun; or the RDB.
  void SendBase(std::shared_ptr<const SyncBase> base, int64_t now_ms);
  // Sends the stream from `offset` on.
  void Continue(uint64_t offset, int64_t now_ms);

  enum class Pulled : uint8_t {
    kAll,      // it has all that there is
    kSome,     // there is more to send
    kTooLate,  // the backlog has lost what it needs, and there is no source
    kBadFile,  // the base or the source cannot be read; error() says why
    kRdbSent,  // it has taken the RDB that it asked for
  };
  // Puts what comes next into the output, at most about `most` bytes.
  Pulled Pull(const Backlog& backlog, size_t most, int64_t now_ms);
  const std::string& error() const { return error_; }
  // What the backlog has lost is read from there; it begins at next_frame().
  void set_source(std::unique_ptr<StreamSource> source) { source_ = std::move(source); }
  // A line feed while it waits for data, or a frame without effects, which it answers with how far
  // it has come.
  void SendKeepAlive(const Backlog& backlog, int64_t now_ms);
  // Sends the command, which publishes a message, once it has been sent the stream up to `offset`.
  // Of messages that it does not take at most 32 MiB wait; the oldest are lost then.
  void Publish(uint64_t offset, std::shared_ptr<const std::string> command);
  uint64_t message_bytes() const { return message_bytes_; }
  // Such a frame is due once it has been sent the stream up to `offset`.
  void AskAt(uint64_t offset) { ask_at_ = offset, asks_ = true; }

  // The stream from here on must be kept for it, unless it is read from a source.
  bool reads_source() const { return source_ != nullptr; }
  uint64_t needs() const { return cursor_; }
  // Where the next frame begins.
  uint64_t next_frame() const { return cursor_ + (is_message_ ? 0 : frame_left_); }
  // It has applied the stream up to `offset`. Returns false if it was never sent so much.
  bool Acknowledge(uint64_t offset, int64_t now_ms);
  void NoteAlive(int64_t now_ms) { acknowledged_ms_ = now_ms; }
  uint64_t acknowledged() const { return acknowledged_; }
  // Steady ms: when it last acknowledged anything; when something was last put into its output;
  // when it last took anything.
  int64_t acknowledged_ms() const { return acknowledged_ms_; }
  int64_t sent_ms() const { return sent_ms_; }
  int64_t taken_ms() const { return taken_ms_; }

  int64_t over_soft_limit_since_ms = 0;  // 0: not over it

 private:
  struct Message {
    uint64_t offset;  // how far the stream was
    std::shared_ptr<const std::string> command;
  };

  Pulled PullBase(size_t most, int64_t now_ms);
  Pulled PullFrames(const Backlog& backlog, size_t most);
  // Begins the next frame. kAll: there is none yet.
  Pulled BeginFrame(const Backlog& backlog);
  Pulled BeginFrameOfSource();
  void Begin(const Backlog::Part& part);
  // Begins a frame of the next message. Returns false if none is due.
  bool BeginMessage();

  Client& client_;
  const uint64_t number_;
  std::string ip_;
  int64_t port_ = 0;
  std::string earlier_id_;
  uint64_t earlier_end_ = 0;
  bool speaks_frames_ = false;
  bool wants_rdb_ = false;
  bool rdb_begun_ = false;
  std::string rdb_head_;
  bool started_ = false;
  Stage stage_ = Stage::kWaiting;
  std::shared_ptr<const SyncBase> base_;  // null unless in kSending
  uint64_t base_sent_ = 0;
  FrameWriter frames_;
  std::unique_ptr<StreamSource> source_;  // null while the backlog has what it needs
  uint64_t cursor_ = 0;                   // the stream up to here was put into the output
  Backlog::Part frame_;                   // the frame that is being put there
  size_t frame_left_ = 0;                 // bytes of it; they are the next ones of frame_
  bool is_message_ = false;               // frame_ is no part of the stream
  std::deque<Message> messages_;          // that were not begun
  size_t message_bytes_ = 0;              // of those
  uint64_t ask_at_ = 0;
  bool asks_ = false;
  uint64_t acknowledged_ = 0;
  int64_t acknowledged_ms_ = 0;
  int64_t sent_ms_ = 0;
  int64_t taken_ms_ = 0;
  std::string error_;
};

// In the order in which they came.
using LinksInOrder = std::vector<std::unique_ptr<ReplicaLink>>;

}  // namespace tally::server
