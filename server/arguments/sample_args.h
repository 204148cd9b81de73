// The count of HRANDFIELD, SRANDMEMBER and ZRANDMEMBER.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/command/command_context.h"

namespace tally::server {

// How many elements to choose. With a negative argument elements may repeat.
struct SampleCount {
  size_t count = 0;
  bool distinct = true;
};

// The most repeated elements in one reply. Larger counts are refused, because such a reply could
// fill the memory.
inline constexpr int64_t kMaxRepeated = int64_t{1} << 24;

// Returns nothing after replying an error if the argument is not a valid count.
std::optional<SampleCount> SampleCountArg(CommandContext& context, size_t index);

}  // namespace tally::server
