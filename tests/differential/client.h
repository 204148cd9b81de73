// A client of one server, and the same client of both. Messages that come between replies (of
// channels, of tracked keys) are kept apart from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/wire.h"

namespace tally::differential {

struct Ports {
  uint16_t tallyd = 0;
  uint16_t redis = 0;
};

class Client {
 public:
  Client(uint16_t port, int protocol);

  void Send(std::string_view bytes) { wire_.Send(bytes); }
  // The next reply; valid until the next call.
  std::string_view Receive();
  // The same, but empty when none has arrived. Call when the server has nothing more to do.
  std::string_view ReceiveArrived();
  std::string_view Call(const Request& request);

  // CLIENT ID.
  const std::string& id() const { return id_; }

  struct Messages {
    std::vector<std::string> published;  // by any kind of channel, in their order
    std::vector<std::string> changed;    // names of tracked keys, sorted; "all" for all
    bool operator==(const Messages&) const = default;
  };
  // What was heard since the call before.
  Messages TakeMessages();
  // Messages, since the beginning.
  uint64_t heard() const { return heard_; }

 private:
  // Keeps it if it is a message.
  bool Keep(std::string_view reply);

  Wire wire_;
  std::string id_;
  Messages messages_;
  uint64_t heard_ = 0;
};

struct Pair {
  Pair(Ports ports, int protocol) : ours(ports.tallyd, protocol), theirs(ports.redis, protocol) {}

  // Whether both gave the same reply.
  bool SameReplies(const Request& request);

  Client ours;
  Client theirs;
};

// Whether both have heard the same since the call before; otherwise `report` shows where they part.
// `as_sets`: keys may have been named several times. Call when the servers have nothing more to do.
bool SameMessages(Pair& pair, bool as_sets, std::string& report);

// So many connections that the next one of both servers has the same id.
void AlignIds(Ports ports);

}  // namespace tally::differential
