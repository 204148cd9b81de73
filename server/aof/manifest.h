// The manifest names the files that together are the data set: at most one base file, and the
// incremental logs that continue it. The text has the syntax of Redis 7 and ends in a checksum
// line; see aof_format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tally::server {

// How an operator moves data from files of Redis to tallyd; a part of error messages.
inline constexpr std::string_view kMoveFromRedis =
    "start redis-server on it, send that CONFIG SET aof-use-rdb-preamble no and BGREWRITEAOF, "
    "start "
    "tallyd with another dir, and replay the new appendonlydir/*.base.aof with redis-cli --pipe";

struct ManifestEntry {
  std::string name;  // a file name, without directories
  uint64_t sequence = 0;

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

struct Manifest {
  std::optional<ManifestEntry> base;
  std::vector<ManifestEntry> logs;  // oldest first, sequences rising

  bool Lists(std::string_view name) const;

  std::string Format() const;
  // DataLoss, with the line, for any text that Format() could not have written; FailedPrecondition
  // if Redis wrote it. `file` is the name for messages. Entries of Redis's type 'h' (history, files
  // to be deleted) are skipped.
  static absl::StatusOr<Manifest> Parse(std::string_view text, std::string_view file);

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

}  // namespace tally::server
