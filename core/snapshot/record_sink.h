// Where the records of a snapshot go: into a file, or into a stream.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tally {

// No sink takes more at once. A reader that knows the bound takes no memory for a length that is
// damaged.
inline constexpr size_t kMaxPartBytes = size_t{1} << 20;

// A record that is longer than the sink takes at once comes in pieces, one straight after another.
enum class RecordPart : uint8_t { kWhole, kPiece, kLastPiece };

// Only RecordEmitter writes to one: it keeps the bound.
class RecordSink {
 public:
  // From 1 to kMaxPartBytes, and always the same.
  virtual size_t max_part_bytes() const = 0;
  // `bytes` are not empty, and not more than that. After an error the snapshot is lost.
  virtual absl::Status Append(RecordPart part, std::string_view bytes) = 0;

 protected:
  ~RecordSink() = default;
};

}  // namespace tally
