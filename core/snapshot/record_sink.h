// Where the records of a snapshot go: into a file, or into a stream.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tally {

// No sink takes more bytes than this at once. A reader that knows this bound rejects a damaged
// length instead of allocating memory for it.
inline constexpr size_t kMaxPartBytes = size_t{1} << 20;

// A record that is too long for the sink comes in pieces, directly one after another.
enum class RecordPart : uint8_t { kWhole, kPiece, kLastPiece };

// Only RecordEmitter writes to a sink, because it keeps within the bound.
class RecordSink {
 public:
  // From 1 to kMaxPartBytes, and always the same.
  virtual size_t max_part_bytes() const = 0;
  // `bytes` has 1 to max_part_bytes() bytes. After an error the snapshot is lost.
  virtual absl::Status Append(RecordPart part, std::string_view bytes) = 0;

 protected:
  ~RecordSink() = default;
};

}  // namespace tally
