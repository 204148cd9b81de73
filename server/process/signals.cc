#include "server/process/signals.h"

#include <absl/status/status.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "core/base/check.h"

namespace tally::server {
namespace {

sigset_t HandledSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void BlockSignals() {
  const sigset_t signals = HandledSignals();
  Check(::pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0, "signals can be blocked");
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // writing to a file at its size limit fails instead
}

Signals::Signals(EventPoller& poller, Logger& log, TurnClock& turn_clock, ProcessEnd& process_end)
    : descriptor_([] {
        const sigset_t signals = HandledSignals();
        return ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
      }()),
      log_(log),
      turn_clock_(turn_clock),
      process_end_(process_end) {
  Check(descriptor_ >= 0 && poller.Watch(descriptor_, *this), "the kernel has a signal descriptor");
}

Signals::~Signals() { ::close(descriptor_); }

void Signals::OnEvent(DescriptorEvent) {
  signalfd_siginfo info{};
  while (::read(descriptor_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    turn_clock_.Begin();
    Handle(static_cast<int>(info.ssi_signo));
  }
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
