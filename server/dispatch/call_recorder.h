// Records the calls that ran: INFO commandstats, errors, hot keys, the slow log and latency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/command/command_table.h"
#include "server/interfaces/services.h"
#include "server/state/client.h"

namespace tally::server {

class CallRecorder {
 public:
  // `server` must outlive this.
  explicit CallRecorder(Services& server) : server_(server) {}

  // Records a call that took `micros` microseconds. Its reply begins at byte `reply_begin` of the
  // client's output. O(1); O(arguments) if the call is slow.
  void Record(const Client& client, const CommandEntry& entry, Args args, size_t reply_begin,
              int64_t micros);
  // Records a call that has begun to wait, after `micros` microseconds.
  void RecordBlocked(const CommandEntry& entry, int64_t micros);
  // Records what such a call has done after it waited, in `micros` microseconds. It was counted
  // when it began to wait, and the time for which it waited counts nowhere.
  void RecordAwaited(const Client& client, const BlockedCommand& command, Args args,
                     size_t reply_begin, int64_t micros);
  // Counts a call as failed, as Redis does when CLIENT UNBLOCK ends its wait. `error` may be empty.
  void CountUnblocked(const CommandEntry& entry, std::string_view error);

 private:
  // What is noted of a call as a whole.
  void NoteWhole(const Client& client, const CommandEntry& entry, Args args, size_t reply_begin,
                 int64_t micros);
  void CountFailure(const Client& client, const CommandEntry& entry, size_t reply_begin);
  void NoteHotKeys(const Client& client, const CommandEntry& entry, Args args, size_t reply_begin,
                   int64_t micros);
  void AddToSlowlog(const Client& client, const CommandEntry& entry, Args args, int64_t micros);

  Services& server_;
};

}  // namespace tally::server
