// Where the data of this server is in the stream that it comes from, and the note of it in the log.
#pragma once

#include <absl/status/status.h>

#include <optional>
#include <string>

#include "server/durability/log_notes.h"
#include "server/interfaces/services.h"
#include "server/replication/primary_handshake.h"
#include "server/replication/upstream_position.h"

namespace tally::server {

class DataPosition final : public LogNotes {
 public:
  explicit DataPosition(Services& server) : server_(server) {}

  // In the stream of a Redis, if the data comes from one. That of a tallyd is where the stream of
  // this server ends, and then this is not known.
  const UpstreamPosition& upstream() const { return upstream_; }
  void Set(const UpstreamPosition& upstream);
  // The data is that of no position: all of it has to be asked for.
  void Lose();

  // Where the data ends, as PSYNC says it; none if all is lacking. And the same place under the id
  // before, if there was one.
  std::optional<PrimaryHandshake::From> End() const;
  std::optional<PrimaryHandshake::From> EarlierEnd() const;

 private:
  // LogNotes
  void AppendAll(std::string& out) override;
  void AppendChanged(std::string& out) override;
  absl::Status Load(Args note) override;

  Services& server_;
  UpstreamPosition upstream_;
  bool is_noted_ = true;  // the log has it
  bool is_lost_ = false;
};

}  // namespace tally::server
