// One client's conversation, without a socket: bytes in, commands out to the dispatcher, replies in
// the client's output.
#pragma once

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

  // Runs the commands that are whole in what has been received, at most about `kCommandsAtOnce`.
  // The bytes may be anything and cut anywhere.
  void Receive(std::string_view bytes);
  // Goes on with what Receive left. True while more is left.
  bool Resume();
  bool has_backlog() const { return backlog_; }

  // The connection is to be closed after the output has been sent.
  bool finished() const { return client_.close_after_reply; }
  // Heap bytes of unfinished requests.
  size_t buffered() const { return buffer_.size(); }

  // One turn's share of one client, so that a pipeline of a million commands starves nobody.
  static constexpr size_t kCommandsAtOnce = 2000;

 private:
  // Returns how many bytes are done with.
  size_t RunCommands(std::string_view bytes);
  void Keep(std::string_view rest);
  void ApplyLimits();
  void Fail(std::string_view error);

  ServerState& server_;
  Dispatcher& dispatcher_;
  Client client_;
  RequestParser parser_;
  std::string buffer_;  // an unfinished request, or what is left for the next turn
  bool backlog_ = false;
};

}  // namespace tally::server
