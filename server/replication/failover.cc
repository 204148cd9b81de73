#include "server/replication/failover.h"

#include "core/base/saturating.h"
#include "core/bytes/str_cat.h"
#include "server/log/log.h"
#include "server/state/clock.h"
#include "server/state/pause.h"

namespace tally::server {

std::string_view Failover::word() const {
  switch (state_) {
    case State::kWaiting:
      return "waiting-for-sync";
    case State::kHandover:
      return "failover-in-progress";
    case State::kNone:
      break;
  }
  return "no-failover";
}

void Failover::Start(const FailoverRequest& request) {
  request_ = request;
  state_ = State::kWaiting;
  deadline_ms_.reset();
  if (request.timeout_ms) {
    deadline_ms_ = SaturatingAdd(server_.clock.steady_ms(), *request.timeout_ms);
  }
  server_.pause.failover = true;
  const std::string target = request.host.empty() ? "the first replica that has all"
                                                  : StrCat(request.host, ':', request.port);
  server_.log.Notice("Failover to ", target, " was asked for: writes wait");
}

bool Failover::Targets(std::string_view host, int64_t port) const {
  if (state_ != State::kWaiting) return false;
  return request_.host.empty() || (request_.host == host && request_.port == port);
}

void Failover::TargetHasAll(std::string_view host, int64_t port) {
  request_.host = host;
  request_.port = port;
  server_.log.Notice("Failover: ", host, ":", port, " has all and is asked to take over");
  HandOver(PrimaryLink::Handover::kYes);
}

void Failover::HandOver(PrimaryLink::Handover handover) {
  state_ = State::kHandover;
  deadline_ms_.reset();
  server_.primary->Follow(request_.host, request_.port, handover);
}

void Failover::Tick() {
  if (state_ != State::kWaiting || !deadline_ms_) return;
  if (server_.clock.steady_ms() < *deadline_ms_) return;
  if (!request_.force) return GiveUp("no replica has caught up in time");
  server_.log.Warning("Failover: ", request_.host, ":", request_.port,
                      " has not caught up in time, and is asked to take over by FORCE: what it "
                      "lacks will be lost");
  HandOver(PrimaryLink::Handover::kForced);
}

std::string Failover::Abort() {
  if (state_ == State::kNone) return "ERR No failover in progress.";
  GiveUp("it was aborted by hand");
  return {};
}

void Failover::HandoverEnded(bool accepted) {
  if (state_ != State::kHandover) return;
  if (!accepted) return GiveUp("the replica has refused to take over");
  server_.log.Notice("Failover: ", request_.host, ":", request_.port, " is the primary now");
  End();
}

void Failover::GiveUp(std::string_view why) {
  server_.log.Warning("Failover is given up: ", why);
  const bool follows = state_ == State::kHandover;
  End();
  if (follows) server_.primary->StopFollowing();
}

void Failover::End() {
  state_ = State::kNone;
  deadline_ms_.reset();
  server_.pause.failover = false;
}

}  // namespace tally::server
