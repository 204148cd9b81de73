// One client's conversation, without a socket: bytes in, commands out to the dispatcher, replies in
// the client's output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/bytes/text.h"
#include "server/dispatcher.h"
#include "server/resp/parser.h"
#include "server/state/client.h"
#include "server/state/services.h"

namespace tally::server {

// What one client gets of a turn, so that a pipeline of a million commands starves nobody. Commands
// begin while none of it is used up.
struct TurnShare {
  size_t commands = 2000;
  int64_t micros = INT64_MAX;
  size_t output_bytes = 64 * 1024;
};

class Session {
 public:
  Session(Services& server, Dispatcher& dispatcher);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Client& client() { return client_; }
  const Client& client() const { return client_; }

  // Takes bytes, which may be anything and cut anywhere, and looks at the first requests in them.
  // They must stay where they are until Run.
  void Take(std::string_view bytes);
  // Where the rest of a long argument is to be read to, if `most` bytes or more of it are missing:
  // after what has come of it, so that it need not be copied there. Otherwise empty.
  std::span<char> LongArgumentRoom(size_t most);
  // As Take, of bytes that were read there.
  void TakeInRoom(size_t bytes);
  // The key of the only request that Take saw whole, if it has one.
  std::optional<std::string_view> first_key() const;
  // Runs the commands that are whole in what was taken, or goes on with what was left, until the
  // share is used up. More is left when has_backlog().
  void Run(const TurnShare& share = {});
  bool has_backlog() const { return client_.state.requests.has_backlog(); }
  // Instead of Run: keeps what was taken, as a backlog.
  void Hold();
  // Whether the last Run took so much that others had better go first.
  bool heavy() const { return heavy_; }

  // The connection is to be closed after the output has been sent.
  bool finished() const { return client_.finished(); }
  // Heap bytes of unfinished requests.
  size_t buffered() const { return buffer_.size(); }

 private:
  struct Progress {
    size_t done = 0;    // bytes of requests that have been run
    bool left = false;  // commands may be left to run
  };
  // `ahead` is of the first batch in the bytes, if it has been parsed.
  Progress RunCommands(std::string_view bytes, std::optional<ParseStatus> ahead,
                       const TurnShare& share);
  Progress RunBatch(const TurnShare& share);
  void Prefetch();
  void FetchAhead();
  void Buffer(std::string_view bytes);
  void MakeRoom(size_t bytes);
  void LimitQuery(size_t unfinished);
  void Keep(size_t done);
  void ApplyLimits();
  void Fail(std::string_view error);

  Services& server_;
  Dispatcher& dispatcher_;
  Client client_;
  RequestParser parser_;
  Text buffer_;             // an unfinished request, or what is left for the next turn
  std::string_view input_;  // what Take was given, or the buffer
  ParseStatus ahead_{};     // of the first batch in what was taken
  bool heavy_ = false;
};

}  // namespace tally::server
