// All data of a primary, which replaces what is here: it is received into a file and checked, and
// only then is anything dropped for it.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "server/aof/file_system.h"
#include "server/durability/aof_persistence.h"
#include "server/interfaces/services.h"
#include "server/replication/data_position.h"
#include "server/replication/payload_file.h"
#include "server/replication/payload_receiver.h"
#include "server/replication/primary_handshake.h"

namespace tally::server {

class FullSync {
 public:
  struct Parts {
    Services& server;
    AofPersistence& persistence;
    FileSystem& files;
    DataPosition& position;
    std::function<std::string()> new_id;  // makes ids of histories
  };
  explicit FullSync(const Parts& parts);

  // The steps, one after the other; an error of one ends the sync, and Abandon must follow unless
  // it came from EndLoading.
  //
  // The primary is about to send its data, which ends there in its stream.
  absl::Status Begin(const PrimaryHandshake::From& from);
  // Takes the data at the front of `bytes` out of it. Returns whether all has come.
  absl::StatusOr<bool> Receive(std::string& bytes);
  absl::Status BeginCheck();
  // Checks for about `budget_us`. Returns whether all is checked and right.
  absl::StatusOr<bool> Check(int64_t budget_us);
  // From now on the data is that of the primary, and is loaded by the persistence.
  absl::Status BeginLoading();
  bool is_loading() const { return parts_.persistence.replacing(); }
  // Requires that it is not loading any more. After an error the old data is there again.
  absl::Status EndLoading();

  // Removes what has come; also what a process before this one has left.
  void Abandon() { file_.Remove(); }

  // Where the data ends in the stream of the primary.
  uint64_t offset() const { return from_.offset; }
  uint64_t received() const { return receiver_.received(); }
  const std::optional<uint64_t>& total() const { return receiver_.total(); }

 private:
  MoveOptions LoadOptions() const;
  void TouchAllKeys();
  void BeginHistory();

  const Parts parts_;
  Services& server_;
  PrimaryHandshake::From from_;
  PayloadReceiver receiver_;
  PayloadFile file_;
};

}  // namespace tally::server
