// One conversation of MIGRATE with another server: connects, logs in, sends what it is given, and
// reads an answer to each command. No call waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/interfaces/migrations.h"
#include "server/net/event_poller.h"
#include "server/net/peer_socket.h"
#include "server/net/tls/tls_context.h"

namespace tally::server {

class Migration {
 public:
  // Times are of Clock::steady_ms().
  Migration(EventPoller& poller, const MigrationTarget& target, MigrationBatch batch,
            int64_t now_ms);

  // Begins; without it the batch fails. `tls` is null for a connection without TLS.
  void Open(std::unique_ptr<TlsContext> tls) {
    socket_.Open(target_.host, target_.port, std::move(tls));
  }

  // Sends another batch, when the last one is over.
  void Continue(MigrationBatch batch, int64_t now_ms);
  // Sends and receives what it can now. Returns true if the batch is over, one way or the other.
  bool Continue(int64_t now_ms);
  // Whether Continue has something to do before time passes.
  bool HasEvent() const { return socket_.HasEvent(); }
  // Once for each batch that is over.
  std::unique_ptr<MigrationResult> Take();

 private:
  // All return false when the conversation has broken off.
  bool Connect();
  bool Send();
  bool Receive();
  bool TakeLines();
  bool TakeLine(std::string_view line);
  bool BreakOff(std::string_view doing);
  bool is_complete() const { return result_->answers.size() == result_->keys.size(); }

  PeerSocket socket_;
  const MigrationTarget target_;
  MigrationBatch batch_;
  std::unique_ptr<MigrationResult> result_;
  size_t rounds_ = 1;
  size_t logins_left_;
  size_t sent_ = 0;       // bytes of what is sent now: the login, then the batch
  std::string received_;  // the begin of a line
  int64_t progress_ms_;   // when something was sent or received last
  int64_t now_ms_;
};

}  // namespace tally::server
