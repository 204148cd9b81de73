// What the server knows about a connected client, as commands see it. There are no sockets here.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/byte_blocks.h"
#include "server/command/command_table.h"
#include "server/resp/reply.h"
#include "server/state/blocked_command.h"
#include "server/state/connection_state.h"
#include "server/state/tracking.h"

namespace tally {
class Text;
}  // namespace tally

namespace tally::server {

class ReplicaLink;
struct AclUser;
struct WatchedKey;

// The connection of a client.
class Transport {
 public:
  // Sends at most `most` bytes of the client's output. Called at the end of a turn. Returns true if
  // more output is left and the peer may take it: then it must be called again in the next turn.
  virtual bool FlushOutput(size_t most) = 0;
  // Closes the socket at once. Output that has not been sent is lost.
  virtual void Close() = 0;

 protected:
  ~Transport() = default;
};

struct QueuedCommand {
  const CommandEntry* entry;
  std::vector<std::string> args;
};

// State of MULTI and WATCH.
struct Transaction {
  bool active = false;
  bool failed = false;   // a command could not be queued: EXEC aborts
  bool touched = false;  // a watched key changed: EXEC gives null
  uint32_t flags = 0;    // CommandFlags of all that is queued
  size_t queued_bytes = 0;
  std::vector<QueuedCommand> queue;
  std::vector<WatchedKey*> watched;  // owned by the WatchList
};

enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext, kSkipThis };

struct Client {
  Client() : reply(output) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  uint64_t id = 0;
  std::string address;
  std::string local_address;
  int descriptor = -1;  // only shown in CLIENT LIST
  std::string name;
  std::string library_name;
  std::string library_version;

  size_t database = 0;
  std::string user = "default";
  std::shared_ptr<const AclUser> acl;  // null for the log's client, which may do everything
  bool authenticated = false;
  // Of Clock::elapsed_ms.
  int64_t created_ms = 0;
  int64_t last_active_ms = 0;
  const CommandEntry* last_command = nullptr;
  // The command whose calls in the running batch have all been fetched ahead; null if there is
  // none.
  const CommandEntry* fetched_command = nullptr;

  ByteBlocks output;
  ReplyBuilder reply;
  ByteBlocks pushes;  // messages that came while its own command ran; sent after the reply
  ReplyMode reply_mode = ReplyMode::kOn;
  ConnectionState state;
  bool output_pending = false;  // is in the turn's list of clients to flush
  bool wrote = false;           // logged an effect in this turn
  uint64_t written_to = 0;      // where the last effect that it logged ends in the stream
  size_t query_bytes = 0;       // received and not run yet
  // While a request runs that was received alone, this is the memory that holds its arguments;
  // otherwise null.
  Text* request = nullptr;
  // The memory that a command has taken from `request` while others still read the arguments; empty
  // between two commands.
  SharedBytes taken_request;

  Transaction transaction;
  absl::flat_hash_set<std::string> channels;
  absl::flat_hash_set<std::string> patterns;
  absl::flat_hash_set<std::string> shard_channels;
  std::unique_ptr<Tracking> tracking;       // null if the client does not track keys
  std::unique_ptr<BlockedCommand> blocked;  // null unless its command waits
  ReplicaLink* replica = nullptr;           // null unless it has sent REPLCONF or PSYNC
  bool is_replica = false;                  // its output is the stream, and it sends no requests
  bool monitor = false;
  bool of_scripts = false;    // makes the calls of scripts
  bool takes_events = false;  // an HTTP client that EventStreams holds
  bool no_evict = false;
  bool no_touch = false;

  Transport* transport = nullptr;  // null for the client of the scripts or of the log

  // Whether the connection is closed, or closes when its output has been sent. No request is run
  // then.
  bool finished() const { return !state.end.open(); }
  // Whether the end of the turn has to do anything for this client.
  bool needs_flush() const { return !output.empty() || output.overflowed() || wrote || finished(); }
  // The output for a message that is not a reply.
  ByteBlocks& message_output() { return state.command.running() ? pushes : output; }
  bool subscribed() const {
    return !channels.empty() || !patterns.empty() || !shard_channels.empty();
  }
};

}  // namespace tally::server
