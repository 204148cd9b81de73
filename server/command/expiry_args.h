// Arguments that tell when a key dies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };

struct ExpiryArg {
  TimeUnit unit = TimeUnit::kSeconds;
  bool absolute = false;
};

// EX, PX, EXAT and PXAT, in any case; nothing for another word.
std::optional<ExpiryArg> ParseExpiryWord(std::string_view word);

// The deadline (unix ms) that an argument stands for. Replies an error and gives nothing when it is
// no integer, or out of range; a zero or negative argument is one too unless `any_sign`.
std::optional<int64_t> DeadlineArg(CommandContext& context, size_t index, ExpiryArg kind,
                                   bool any_sign = false);

}  // namespace tally::server
