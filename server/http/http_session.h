// The conversation with a client that speaks HTTP/1.1 or 1.0: passes requests to the handlers of
// the routes, and writes their responses to the client's output.
//
// It runs on the same connections as RESP, and not in the server of a library such as RESTinio. A
// response must wait until the effects of its turn are logged, and HTTP clients share the turns,
// the limits and CLIENT LIST with all other clients. A server with its own reactor cannot do this.
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
#include "server/interfaces/conversation.h"
#include "server/interfaces/services.h"
#include "server/state/client.h"

namespace tally::server {

class HttpSession final : public Conversation {
 public:
  // `server` and `site` must outlive the session.
  HttpSession(const Services& server, HttpSite& site);
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
  // Answers 408 to a request that takes too long to arrive. Returns true if the connection must be
  // closed: a while after a refusal, when it is idle between requests for too long, or when the
  // peer takes none of its output for too long (see http_limits.h).
  bool CheckDeadlines() override;

  // Whether no further request will be answered.
  bool finished() const { return client_.finished() || refused_ms_ != 0; }
  // Heap bytes of an unfinished request and of the bytes after it.
  size_t buffered() const { return buffer_.capacity() + reader_.heap_bytes(); }

 private:
  bool RunRequests(std::string_view& bytes, const TurnShare& share);
  void Discard();
  void ReadRequest(std::string_view& bytes);
  void AwaitBody();
  void Answer();
  HttpResponse ReadError() const;
  HttpResponse Respond();
  // Judges the head of the request. Returns the route that it may use; null if there is none, then
  // `refusal` is the response.
  const Route* RouteFor(HttpResponse& refusal);
  bool Admit(const Route& route, HttpResponse& refusal);
  bool MayUse(const Route& route, HttpResponse& refusal);
  bool MayTakeEvents();
  bool TakesNothing();
  bool ContinueAnswer(const TurnShare& share);
  void Send(const HttpResponse& response);
  void Refuse(const HttpResponse& response);
  HttpCall Call() const;
  int64_t now_ms() const;

  const Services& server_;
  HttpSite& site_;
  mutable Client client_;
  HttpRequestReader reader_;
  HttpLogin login_;
  const Route* route_ = nullptr;  // of the last request that was admitted
  bool admitted_ = false;         // the request whose body is awaited
  std::unique_ptr<LongAnswer> long_answer_;
  std::string buffer_;      // received bytes that the reader has not taken yet
  std::string_view input_;  // the bytes of the last Take, which come after buffer_
  int64_t begun_ms_ = 0;    // steady time of an unfinished request's first byte; 0: there is none
  // Steady time of the refusal after which the connection is to be closed; 0: nothing was refused.
  int64_t refused_ms_ = 0;
  size_t unsent_ = 0;  // bytes of output at the last tick
  // Steady time since which none of them was sent; 0: there are none.
  int64_t unsent_since_ms_ = 0;
  bool heavy_ = false;
};

}  // namespace tally::server
