// Sends an RDB to those that want all data and nothing of what follows (REPLCONF rdb-only). One is
// written at a time, for all who have asked before it was begun.
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "server/interfaces/services.h"
#include "server/replication/replica_link.h"

namespace tally::server {

class RdbSender {
 public:
  // `links` are those of all replicas.
  RdbSender(Services& server, const LinksInOrder& links) : server_(server), links_(links) {}

  // Removes what a process before this one was sending.
  void RemoveLeftOver();
  // Once a turn: begins to write an RDB, if somebody waits for one.
  void Serve();

 private:
  void NoteBegun();
  void Send(const absl::Status& written);
  void Refuse(ReplicaLink& link, std::string_view why);

  Services& server_;
  const LinksInOrder& links_;
  bool is_writing_ = false;
};

}  // namespace tally::server
