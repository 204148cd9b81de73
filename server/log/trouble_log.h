// Reports in the log a state in which clients are refused: a line when it begins, a line each
// minute while it lasts, and a line when it has ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/log/log.h"

namespace tally::server {

class TroubleLog {
 public:
  // `over` is the line that says that the state has ended.
  TroubleLog(const Logger& log, std::string_view over) : log_(log), over_(over) {}
  TroubleLog(const TroubleLog&) = delete;
  TroubleLog& operator=(const TroubleLog&) = delete;

  // To be called while the state lasts and whenever a client is refused, as often as wanted. Logs
  // `what` at the first call and then once a minute. `steady_ms` comes from a clock that never goes
  // back.
  void Happens(std::string_view what, int64_t steady_ms);
  // To be called regularly. The state has ended when nothing has happened for five seconds: one
  // that comes and goes many times a second is one trouble, and no flood of lines.
  void Tick(int64_t steady_ms);

  bool active() const { return active_; }

 private:
  const Logger& log_;
  const std::string over_;
  bool active_ = false;
  int64_t begun_ms_ = 0;
  int64_t seen_ms_ = 0;    // when it last happened
  int64_t logged_ms_ = 0;  // when a line was last written
};

// The states that refuse clients.
struct Troubles {
  explicit Troubles(const Logger& log)
      : writes(log, "Writes are accepted again."),
        memory(log, "Commands that need memory are accepted again."),
        places(log, "Clients find room again: fewer than maxclients are connected."),
        descriptors(log, "Client connections are accepted again.") {}

  void Tick(int64_t steady_ms) {
    for (TroubleLog* trouble : {&writes, &memory, &places, &descriptors}) trouble->Tick(steady_ms);
  }

  TroubleLog writes;       // the log cannot be written, or needed snapshots fail: MISCONF
  TroubleLog memory;       // maxmemory is reached and nothing may be evicted: OOM
  TroubleLog places;       // maxclients
  TroubleLog descriptors;  // the process has no file descriptor for another client
};

}  // namespace tally::server
