// Reads the stream of effects back from the logs, from some offset to the end of what is written.
// The logs say which part of the stream they hold (stream_note.h). Logs that a rewrite removes
// meanwhile are read to their ends: they are open.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <memory>

#include "server/aof/aof_directory.h"
#include "server/aof/log_reader.h"
#include "server/command/command.h"
#include "server/interfaces/stream_source.h"

namespace tally::server {

class LogStream final : public StreamSource {
 public:
  // The directory must outlive the stream. NotFound if the logs do not hold the stream from
  // `offset` on.
  static absl::StatusOr<std::unique_ptr<StreamSource>> Open(const AofDirectory& directory,
                                                            uint64_t offset);

  absl::StatusOr<bool> Next(Part& part) override;

 private:
  struct Log {
    uint64_t sequence = 0;
    std::unique_ptr<LogReader> reader;
  };

  LogStream(const AofDirectory& directory, uint64_t wanted)
      : directory_(directory), wanted_(wanted) {}

  absl::StatusOr<Log> OpenLog(const ManifestEntry& entry) const;
  // Appends the logs that follow the last one and have a header.
  absl::Status OpenNewer();
  // The log that is read has grown, or another one follows it. False if neither is so.
  absl::StatusOr<bool> Continue();
  void Take(Args command, Part& part);

  const AofDirectory& directory_;
  const uint64_t wanted_;
  std::deque<Log> logs_;  // the first one is read; not empty
  bool known_ = false;    // offset_ and database_ are
  uint64_t offset_ = 0;
  size_t database_ = 0;
  absl::Status wrong_;  // what was found while a batch was taken
};

}  // namespace tally::server
