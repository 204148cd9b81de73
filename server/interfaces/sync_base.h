// A base file for a full sync: the data at one moment, and where in the stream of effects that was.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace tally::server {

// The file, as a full sync reads it: nobody changes it, and it may be removed meanwhile.
class SyncFile {
 public:
  virtual ~SyncFile() = default;
  // Fills `out`; an error if the file ends before.
  virtual absl::Status ReadAt(uint64_t offset, std::span<char> out) const = 0;
};

struct SyncBase {
  std::unique_ptr<const SyncFile> file;
  uint64_t bytes = 0;
  std::string id;  // of the history that the stream had then
  uint64_t offset = 0;
};

}  // namespace tally::server
