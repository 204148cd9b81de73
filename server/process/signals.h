// The signals of the process: SIGINT and SIGTERM end it, SIGHUP opens the log file again. They are
// read from a descriptor of the event loop, so that they are handled between two commands.
#pragma once

#include "server/log/log.h"
#include "server/net/event_poller.h"
#include "server/net/turn_clock.h"
#include "server/process/process_end.h"

namespace tally::server {

// Keeps the signals for Signals, and ignores SIGPIPE and SIGXFSZ, which would end the process. Call
// before the process has a second thread: a thread that does not block a signal would receive it.
void BlockSignals();

class Signals final : private EventTarget {
 public:
  Signals(EventPoller& poller, Logger& log, TurnClock& turn_clock, ProcessEnd& process_end);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void OnEvent(DescriptorEvent event) override;
  void Handle(int signal);
  void ReopenLog();

  const int descriptor_;
  Logger& log_;
  TurnClock& turn_clock_;
  ProcessEnd& process_end_;
};

}  // namespace tally::server
