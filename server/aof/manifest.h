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

struct ManifestEntry {
  std::string name;  // a file name, without directories
  uint64_t sequence = 0;

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

struct Manifest {
  std::optional<ManifestEntry> base;
  std::vector<ManifestEntry> logs;  // oldest first, sequences rising

  bool Lists(std::string_view name) const;
  bool empty() const { return !base.has_value() && logs.empty(); }

  std::string Format() const;
  // DataLoss, with the line, for any text that Format() could not have written; FailedPrecondition
  // if Redis wrote it. `file` is the name for messages. Entries of Redis's type 'h' (history, files
  // to be deleted) are skipped.
  static absl::StatusOr<Manifest> Parse(std::string_view text, std::string_view file);

  // Whether Redis wrote the text, and not a server of ours.
  static bool IsOfRedis(std::string_view text);
  // The same as Parse for a text that Redis wrote.
  static absl::StatusOr<Manifest> ParseOfRedis(std::string_view text, std::string_view file);

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

}  // namespace tally::server
