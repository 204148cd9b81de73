// One client's conversation, without a socket, on whatever wire: bytes in, requests run, replies in
// the client's output. A connection reads and sends for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "server/state/client.h"

namespace tally::server {

// What one client gets of a turn, so that a pipeline of a million commands starves nobody. Commands
// begin while none of it is used up.
struct TurnShare {
  size_t commands = 2000;
  int64_t micros = INT64_MAX;
  size_t output_bytes = 64 * 1024;
};

// The language of a wire.
enum class Protocol : uint8_t { kResp, kHttp };

class Conversation {
 public:
  virtual ~Conversation() = default;

  // The same one always.
  virtual Client& client() = 0;

  // Takes bytes, which may be anything and cut anywhere. They must stay where they are until Run or
  // Hold.
  virtual void Take(std::string_view bytes) = 0;
  // Where the rest of a long argument is to be read to, if `most` bytes or more of it are missing:
  // after what has come of it, so that it need not be copied there. Otherwise empty.
  virtual std::span<char> LongArgumentRoom(size_t most) = 0;
  // As Take, of bytes that were read there.
  virtual void TakeInRoom(size_t bytes) = 0;
  // The key of the only request in what was taken, if it is known and has one.
  virtual std::optional<std::string_view> first_key() const = 0;
  // Runs the requests that are whole in what was taken, or goes on with what was left, until the
  // share is used up. What is left is the client's backlog.
  virtual void Run(const TurnShare& share) = 0;
  // Instead of Run: keeps what was taken, as a backlog.
  virtual void Hold() = 0;
  // Whether the last Run took so much that others had better go first.
  virtual bool heavy() const = 0;

  // At each tick of the clock: whether the peer has been silent for longer than it may be, so that
  // the connection is to be closed.
  virtual bool OutOfTime() = 0;
};

}  // namespace tally::server
