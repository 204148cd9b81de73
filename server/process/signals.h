// The signals of the process: SIGINT and SIGTERM end it, SIGHUP opens the log file again.
#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include "server/log/log.h"
#include "server/net/turn_clock.h"
#include "server/process/process_end.h"

namespace tally::server {

class Signals {
 public:
  Signals(asio::io_context& io, Logger& log, TurnClock& turn_clock, ProcessEnd& process_end);

  // Starts to receive the signals, and ignores SIGPIPE and SIGXFSZ, which would end the process.
  void Start();

 private:
  void Wait();
  void Handle(int signal);
  void ReopenLog();

  asio::signal_set signals_;
  Logger& log_;
  TurnClock& turn_clock_;
  ProcessEnd& process_end_;
};

}  // namespace tally::server
