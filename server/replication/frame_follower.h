// Applies the stream of a primary that is a tallyd: checks its frames, runs their effects as a
// replay, and appends the bytes to the stream of this server as they are. So both streams are the
// same, and so are their offsets; the log and replicas of this server have them too. Messages are
// published here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "server/interfaces/services.h"
#include "server/replication/primary_stream.h"
#include "server/replication/stream_frame.h"

namespace tally::server {

struct Client;

class FrameFollower final : public PrimaryStream {
 public:
  // The stream goes on where that of this server ends.
  explicit FrameFollower(Services& server);
  ~FrameFollower() override;

  void Take(std::string_view bytes) override { buffer_ += bytes; }
  absl::StatusOr<bool> Apply(int64_t budget_us) override;
  uint64_t offset() const override;
  uint64_t read_offset() const override { return offset(); }
  bool TakeAckRequest() override { return std::exchange(ack_wanted_, false); }

 private:
  absl::StatusOr<bool> ApplyNext();
  absl::Status RunEffects(const StreamFrame& frame);
  absl::Status RunCommands(std::string_view commands);

  Services& server_;
  FrameReader reader_;
  std::string buffer_;
  size_t begin_ = 0;  // of what is not applied
  std::unique_ptr<Client> client_;
  bool ack_wanted_ = false;
};

}  // namespace tally::server
