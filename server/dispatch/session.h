// The conversation with a client that speaks RESP: passes its commands to the dispatcher, which
// puts the replies into the client's output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/bytes/text.h"
#include "server/dispatch/dispatcher.h"
#include "server/interfaces/conversation.h"
#include "server/interfaces/services.h"
#include "server/resp/parser.h"
#include "server/state/client.h"

namespace tally::server {

class Session final : public Conversation {
 public:
  Session(Services& server, Dispatcher& dispatcher);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Client& client() override { return client_; }
  const Client& client() const { return client_; }

  // Also parses the first batch of requests in the bytes.
  void Take(std::string_view bytes) override;
  std::span<char> LongArgumentRoom(size_t most) override;
  void TakeInRoom(size_t bytes) override;
  std::optional<std::string_view> first_key() const override;
  void Run(const TurnShare& share = {}) override;
  bool has_backlog() const { return client_.state.requests.has_backlog(); }
  void Hold() override;
  bool heavy() const override { return heavy_; }
  // Whether the client was idle for longer than `timeout`. Never true for subscribers, monitors and
  // blocked clients.
  bool CheckDeadlines() override;

  // Whether the connection closes when its output has been sent, or is closed.
  bool finished() const { return client_.finished(); }
  // Bytes that were received and are kept: an unfinished request, or requests for a later turn.
  size_t buffered() const { return buffer_.size(); }

 private:
  struct Progress {
    size_t done = 0;    // bytes of requests that have been run
    bool left = false;  // commands may be left to run
  };
  // `ahead` is the status of the first batch in `bytes`, if that has been parsed already.
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
  std::string_view input_;  // the bytes that Take got, or buffer_
  ParseStatus ahead_{};     // status of the first batch in what was taken
  bool heavy_ = false;
};

}  // namespace tally::server
