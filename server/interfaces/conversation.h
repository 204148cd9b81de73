// The conversation of one client, without a socket and for any protocol: bytes come in, requests
// are run, and replies go to the client's output. A connection reads and sends for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "server/state/client.h"

namespace tally::server {

// The share of a turn that one client gets, so that a pipeline of a million commands delays nobody
// for long. A command begins only while no part of the share is used up.
struct TurnShare {
  size_t commands = 2000;
  int64_t micros = INT64_MAX;
  size_t output_bytes = 64 * 1024;
};

// The protocol that a connection speaks.
enum class Protocol : uint8_t { kResp, kHttp };

class Conversation {
 public:
  virtual ~Conversation() = default;

  // Always returns the same client.
  virtual Client& client() = 0;

  // Takes the bytes that were read: any bytes, which may begin and end anywhere in a request. They
  // must stay where they are until Run or Hold.
  virtual void Take(std::string_view bytes) = 0;
  // Returns the memory into which the rest of a long argument should be read, after the bytes that
  // have come of it, so that the rest is not copied. Empty unless at least `most` bytes are
  // missing.
  virtual std::span<char> LongArgumentRoom(size_t most) = 0;
  // As Take, for bytes that were read into LongArgumentRoom.
  virtual void TakeInRoom(size_t bytes) = 0;
  // The key of the request that was taken, if it is only one, its key is known and it has one.
  virtual std::optional<std::string_view> first_key() const = 0;
  // Runs the whole requests of what was taken, or goes on with the backlog, until the share is used
  // up. The rest is the backlog of the client.
  virtual void Run(const TurnShare& share) = 0;
  // Called instead of Run: keeps what was taken as the backlog.
  virtual void Hold() = 0;
  // Whether the last Run took so much that other clients should go first.
  virtual bool heavy() const = 0;

  // Called at each tick of PeriodicWork. Returns whether the connection must be closed because the
  // peer has been silent for too long.
  virtual bool CheckDeadlines() = 0;
};

}  // namespace tally::server
