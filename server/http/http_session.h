// The conversation with a client that speaks HTTP/1.1 or 1.0: requests out to the handlers of the
// routes, responses in the client's output.
//
// It is a wire of the same connections that RESP has, and not a server of a library such as
// RESTinio: a response must wait until the effects of its turn are logged, and HTTP clients share
// the turns, the limits and CLIENT LIST with all others, which a reactor of its own could not do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/http/http_login.h"
#include "server/http/http_message.h"
#include "server/http/http_site.h"
#include "server/http/request_reader.h"
#include "server/state/client.h"
#include "server/state/conversation.h"
#include "server/state/services.h"

namespace tally::server {

class HttpSession final : public Conversation {
 public:
  // Both outlive it.
  HttpSession(Services& server, HttpSite& site);
  ~HttpSession() override;
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  Client& client() override { return client_; }
  void Take(std::string_view bytes) override;
  std::span<char> LongArgumentRoom(size_t) override { return {}; }
  void TakeInRoom(size_t) override {}
  std::optional<std::string_view> first_key() const override { return std::nullopt; }
  void Run(const TurnShare& share = {}) override;
  void Hold() override;
  bool heavy() const override { return heavy_; }
  // A request that takes too long to come is answered 408. Between requests the connection closes
  // after a while, and so it does when the peer takes nothing of what waits for it.
  bool OutOfTime() override;

  // No further request is answered.
  bool finished() const { return client_.finished() || refused_ms_ != 0; }
  // Heap bytes of an unfinished request and of what follows it.
  size_t buffered() const { return buffer_.capacity() + reader_.heap_bytes(); }

 private:
  bool RunRequests(std::string_view& bytes, const TurnShare& share);
  void Discard();
  void ReadRequest(std::string_view& bytes);
  void Answer();
  HttpResponse Respond();
  // Whether the request may have what the route serves; otherwise `refusal` says why not.
  bool Admit(const Route& route, HttpResponse& refusal);
  bool TakesNothing();
  bool ContinueAnswer(const TurnShare& share);
  void Send(const HttpResponse& response);
  void Refuse(int status, std::string_view text);
  HttpCall Call() const;
  int64_t now_ms() const;

  Services& server_;
  HttpSite& site_;
  mutable Client client_;
  HttpRequestReader reader_;
  HttpLogin login_;
  std::unique_ptr<LongAnswer> long_answer_;
  std::string buffer_;      // what came after a request that is not answered yet
  std::string_view input_;  // what Take was given
  int64_t begun_ms_ = 0;    // steady time of an unfinished request's first byte; 0: there is none
  // Steady time at which what came was refused, and the connection was to be closed; 0: it was not.
  int64_t refused_ms_ = 0;
  size_t unsent_ = 0;  // of the output, at the last tick
  // Steady time since when nothing of it was sent; 0: there is none.
  int64_t unsent_since_ms_ = 0;
  bool heavy_ = false;
};

}  // namespace tally::server
