// One client's conversation, without a socket: bytes in, commands out to the dispatcher, replies in
// the client's output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/dispatcher.h"
#include "server/resp/parser.h"
#include "server/state/client.h"
#include "server/state/server_state.h"

namespace tally::server {

class Session {
 public:
  Session(ServerState& server, Dispatcher& dispatcher);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Client& client() { return client_; }
  const Client& client() const { return client_; }

  // Takes bytes, which may be anything and cut anywhere, and looks at the first requests in them.
  // They must stay where they are until Run.
  void Take(std::string_view bytes);
  // The key of the only request that Take saw whole, if it has one.
  std::optional<std::string_view> first_key() const;
  // Runs the commands that are whole in what was taken, or goes on with what was left: at most
  // about `kCommandsAtOnce`, and none after `share_us` microseconds. More is left when
  // has_backlog().
  void Run(int64_t share_us = INT64_MAX);
  bool has_backlog() const { return backlog_; }

  // The connection is to be closed after the output has been sent.
  bool finished() const { return client_.close_after_reply; }
  // Heap bytes of unfinished requests.
  size_t buffered() const { return buffer_.size(); }

  // One turn's share of one client, so that a pipeline of a million commands starves nobody.
  static constexpr size_t kCommandsAtOnce = 2000;

 private:
  // Returns how many bytes are done with.
  size_t RunCommands(std::string_view bytes, int64_t share_us);
  ParseStatus NextBatch(std::string_view bytes);
  size_t RunBatch(int64_t share_us);
  void Prefetch();
  void LimitQuery(size_t unfinished);
  void Keep(size_t done);
  void ApplyLimits();
  void Fail(std::string_view error);

  ServerState& server_;
  Dispatcher& dispatcher_;
  Client client_;
  RequestParser parser_;
  std::string buffer_;                // an unfinished request, or what is left for the next turn
  std::string_view input_;            // what Take was given, or the buffer
  std::optional<ParseStatus> ahead_;  // of the first batch in the input, when Take has parsed it
  bool backlog_ = false;
};

}  // namespace tally::server
