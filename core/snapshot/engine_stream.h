// Saves a whole engine as a stream of bytes and loads it again: a program that embeds the engine
// keeps this stream on its disk. The process must not change the engine while it is saved;
// SnapshotWalk takes a snapshot of an engine that changes meanwhile.
//
//   stream = "TALLYENG" version frame* end
//   frame  = kind length bytes checksum
//     kind      u8: 'R' a record, 'P' a piece of a record, 'L' its last piece, 'E' the end
//     length    varint, at most kMaxFrameBytes
//     checksum  u32, little endian: the lower half of the XXH3 of the frame's bytes before it,
//               seeded with the checksum of the frame before (0 for the first frame)
//   end    = a frame of kind 'E' whose bytes are the number of records, as a varint
//
// record_codec.h defines the records. The writer and the loader hold about one record and one frame
// at a time, never the whole stream.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/engine/engine.h"

namespace tally {

// The most payload bytes of a frame: kind, length and checksum are not counted.
inline constexpr size_t kMaxFrameBytes = size_t{64} << 10;

// Receives the next bytes of the stream, about kMaxFrameBytes at a time. If it returns an error,
// the saving ends with that error.
using ByteSink = absl::FunctionRef<absl::Status(std::string_view bytes)>;

// Saves all keys and policies. Returns the first error of the sink. O(bytes).
absl::Status SaveEngine(const Engine& engine, ByteSink sink);

// Reads a stream that comes in parts of any size.
class EngineLoader {
 public:
  // `engine` must have no keys yet, and at least as many databases as the saved engine. It must
  // outlive the loader.
  explicit EngineLoader(Engine& engine) : engine_(engine) {}

  // Takes the next bytes. Returns DataLoss if they are not what SaveEngine wrote, and
  // FailedPrecondition if they hold more databases than the engine has. After an error the engine
  // holds a part of the saved keys.
  absl::Status Add(std::string_view bytes);
  // To be called after all bytes. Returns DataLoss if the end is missing.
  absl::Status Finish() const;

 private:
  // Decodes the next frame of waiting_. Sets `taken` to false if the frame is not complete yet.
  absl::Status TakeFrame(bool& taken);
  absl::Status Take(char kind, std::string_view bytes);

  Engine& engine_;
  std::string waiting_;
  size_t taken_ = 0;  // bytes of waiting_ that are decoded
  std::string pieces_;
  uint32_t checksum_ = 0;
  uint64_t records_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

// The same for a whole stream in memory.
absl::Status LoadEngine(Engine& engine, std::string_view bytes);

}  // namespace tally
