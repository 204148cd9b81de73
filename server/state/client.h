// What the server knows of a connected client, as commands see it. No sockets here.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/byte_blocks.h"
#include "core/bytes/text.h"
#include "server/command/command_table.h"
#include "server/resp/reply.h"
#include "server/state/connection_state.h"

namespace tally::server {

struct AclUser;
struct WatchedKey;

// The connection of a client.
class Transport {
 public:
  // Sends at most `most` bytes of the client's output, at the end of the turn. True when it would
  // have sent more: the peer takes them, and this is to be called again in the next turn.
  virtual bool FlushOutput(size_t most) = 0;
  // Closes at the end of the turn, after the output has been sent as far as the peer takes it.
  virtual void Close() = 0;

 protected:
  ~Transport() = default;
};

struct QueuedCommand {
  const CommandTable::Item* item;
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
  std::vector<WatchedKey*> watched;  // WatchList's
};

enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext, kSkipThis };

struct Client {
  Client() : reply(output) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  uint64_t id = 0;
  std::string address;
  std::string local_address;
  int descriptor = -1;  // only to be shown in CLIENT LIST
  std::string name;
  std::string library_name;
  std::string library_version;

  size_t database = 0;
  std::string user = "default";
  std::shared_ptr<const AclUser> acl;  // null may do everything: the log's client
  bool authenticated = false;
  int64_t created_ms = 0;
  int64_t last_active_ms = 0;
  const CommandTable::Item* last_command = nullptr;
  // Whose calls in the batch that is being run have all been fetched ahead.
  const CommandTable::Item* fetched_command = nullptr;

  ByteBlocks output;
  ReplyBuilder reply;
  ByteBlocks pushes;  // messages that came while its own command ran: they follow the reply
  ReplyMode reply_mode = ReplyMode::kOn;
  ConnectionState state;
  bool output_pending = false;  // is in the turn's list of clients to flush
  bool running = false;         // its command runs: nothing of it is read, run or sent meanwhile
  bool postponed = false;       // its next command waits for CLIENT UNPAUSE
  bool wrote = false;           // logged an effect in this turn
  size_t query_bytes = 0;       // of an unfinished request
  // While a request runs that was received alone: the memory in which its arguments lie.
  Text* request = nullptr;
  // What a command has taken of that memory and others still read; empty between two commands.
  SharedBytes taken_request;

  Transaction transaction;
  absl::flat_hash_set<std::string> channels;
  absl::flat_hash_set<std::string> patterns;
  bool monitor = false;
  bool takes_events = false;  // of HTTP: is one of EventStreams
  bool no_evict = false;
  bool no_touch = false;

  Transport* transport = nullptr;  // null for a client that is only a script's or the log's

  // Whether its connection ends after the output has been sent, or has ended: no request is run.
  bool finished() const { return !state.end.open(); }
  // Whether the end of the turn has anything to do for it.
  bool needs_flush() const { return !output.empty() || output.overflowed() || wrote || finished(); }
  // Where a message goes that is no reply.
  ByteBlocks& message_output() { return running ? pushes : output; }
  bool subscribed() const { return !channels.empty() || !patterns.empty(); }
};

}  // namespace tally::server
