// Records the calls that ran: INFO commandstats, errors, hot keys, the slow log and latency.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/command/command_table.h"
#include "server/dispatch/services.h"
#include "server/state/client.h"

namespace tally::server {

class CallRecorder {
 public:
  // `server` must outlive this.
  explicit CallRecorder(Services& server) : server_(server) {}

  // Records a call that took `micros` microseconds. Its reply begins at byte `reply_begin` of the
  // client's output. O(1); O(arguments) if the call is slow.
  void Record(const Client& client, const CommandEntry& item, Args args, size_t reply_begin,
              int64_t micros);

 private:
  void CountFailure(const Client& client, const CommandEntry& item, size_t reply_begin);
  void NoteHotKeys(const Client& client, const CommandEntry& item, Args args, size_t reply_begin,
                   int64_t micros);
  void AddToSlowlog(const Client& client, const CommandEntry& item, Args args, int64_t micros);

  Services& server_;
};

}  // namespace tally::server
