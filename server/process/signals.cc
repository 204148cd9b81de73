#include "server/process/signals.h"

#include <absl/status/status.h>

#include <csignal>
#include <string>
#include <system_error>

namespace tally::server {

Signals::Signals(asio::io_context& io, Logger& log, TurnClock& turn_clock, ProcessEnd& process_end)
    : signals_(io), log_(log), turn_clock_(turn_clock), process_end_(process_end) {}

void Signals::Start() {
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  signals_.add(SIGHUP);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // writing to a file at its size limit fails instead
  Wait();
}

void Signals::Wait() {
  signals_.async_wait([this](const std::error_code& error, int signal) {
    if (error) return;
    Wait();
    turn_clock_.Begin();
    Handle(signal);
  });
}

void Signals::Handle(int signal) {
  if (signal == SIGHUP) return ReopenLog();
  log_.Notice("Received ", signal == SIGINT ? "SIGINT" : "SIGTERM", " scheduling shutdown...");
  process_end_.AskBySignal();
}

// Opens the log file again after logrotate has renamed it. SIGHUP does nothing else, because a
// terminal that goes away sends it too.
void Signals::ReopenLog() {
  const absl::Status status = log_.Reopen();
  if (status.ok()) return log_.Notice("Received SIGHUP, the log file is open again");
  log_.Warning("Received SIGHUP: ", std::string(status.message()));
}

}  // namespace tally::server
