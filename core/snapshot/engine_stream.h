// A whole engine as a stream of bytes, and back: what a program that embeds it keeps on its disk.
// The process must not change the engine while it is saved; a snapshot that is taken while it goes
// on changing is SnapshotWalk's.
//
//   stream = "TALLYENG" version frame* end
//   frame  = kind length bytes checksum
//     kind      u8: 'R' a record, 'P' a piece of one, 'L' its last piece, 'E' the end
//     length    varint, at most kMaxFrameBytes
//     checksum  u32, little endian: the lower half of the XXH3 of all that came before it in the
//               frame, seeded with the checksum of the frame before
//   end    = a frame of kind 'E' whose bytes are the number of records, as a varint
//
// Records are those of record_codec.h. Neither side ever holds more than one of them, and a frame.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/engine/engine.h"

namespace tally {

// What the bytes of a frame have at most, without its head and its checksum.
inline constexpr size_t kMaxFrameBytes = size_t{64} << 10;

// Takes the bytes that come next, about kMaxFrameBytes at a time; an error of it ends the saving.
using ByteSink = absl::FunctionRef<absl::Status(std::string_view bytes)>;

// Saves all keys and policies. The first error of the sink. O(bytes).
absl::Status SaveEngine(const Engine& engine, ByteSink sink);

// Reads a stream that comes in parts of any size.
class EngineLoader {
 public:
  // `engine` has no keys yet, and as many databases at least as the one that was saved.
  explicit EngineLoader(Engine& engine) : engine_(engine) {}

  // DataLoss if the bytes are not those that SaveEngine gave; FailedPrecondition if they hold more
  // databases than the engine. After an error the engine holds part of them.
  absl::Status Add(std::string_view bytes);
  // After all bytes: DataLoss if the end is missing.
  absl::Status Finish() const;

 private:
  // Takes the next frame off the front of what waits; false if it is not whole yet.
  absl::Status TakeFrame(bool& taken);
  absl::Status Take(char kind, std::string_view bytes);

  Engine& engine_;
  std::string waiting_;
  size_t taken_ = 0;  // of waiting_
  std::string pieces_;
  uint32_t checksum_ = 0;
  uint64_t records_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

// The same of a stream that is there as a whole.
absl::Status LoadEngine(Engine& engine, std::string_view bytes);

}  // namespace tally
