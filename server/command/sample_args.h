// The count of HRANDFIELD, SRANDMEMBER and ZRANDMEMBER.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/command/command_context.h"

namespace tally::server {

// How many elements to choose; below 0 on the wire they may repeat.
struct SampleCount {
  size_t count = 0;
  bool distinct = true;
};

// More repeated elements in one reply are refused: they would not end before memory does.
inline constexpr int64_t kMaxRepeated = int64_t{1} << 24;

// Replies an error and gives nothing when the argument is no such count.
std::optional<SampleCount> SampleCountArg(CommandContext& context, size_t index);

}  // namespace tally::server
