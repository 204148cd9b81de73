// An earlier part of the stream of effects, which is read from the disk.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::server {

class StreamSource {
 public:
  virtual ~StreamSource() = default;

  // Whole deliveries, the first of which begins at `offset` in `database`.
  struct Part {
    uint64_t offset = 0;
    size_t database = 0;
    std::string effects;
  };
  // Reads a little further. Returns false when nothing more has been written. `part` may be without
  // effects all the same: what was read comes before the place that was asked for. An error if the
  // stream does not go on from here.
  virtual absl::StatusOr<bool> Next(Part& part) = 0;
};

}  // namespace tally::server
