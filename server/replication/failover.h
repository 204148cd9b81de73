// FAILOVER: hands the role of the primary to a replica without losing a write. Writes are held back
// until the replica has all; then this server follows it and asks it to take over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/interfaces/replication.h"
#include "server/interfaces/services.h"

namespace tally::server {

class Failover {
 public:
  explicit Failover(Services& server) : server_(server) {}

  enum class State : uint8_t { kNone, kWaiting, kHandover };
  State state() const { return state_; }
  // As INFO shows it.
  std::string_view word() const;

  // Begins. The caller has checked that the target is a replica.
  void Start(const FailoverRequest& request);
  // Whether the server that has all of the stream is one that it waits for.
  bool Targets(std::string_view host, int64_t port) const;
  // A replica that Targets() has all of the stream, and nothing more is written: it is asked to
  // take over.
  void TargetHasAll(std::string_view host, int64_t port);
  // Gives up, or goes on without waiting, when the time is over.
  void Tick();
  // Returns an error if there is nothing to abort.
  std::string Abort();
  void HandoverEnded(bool accepted);

 private:
  void HandOver(PrimaryLink::Handover handover);
  void GiveUp(std::string_view why);
  void End();

  Services& server_;
  State state_ = State::kNone;
  FailoverRequest request_;
  std::optional<int64_t> deadline_ms_;  // steady ms
};

}  // namespace tally::server
