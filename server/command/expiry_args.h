// Arguments that say when a key dies.
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

  bool operator==(const ExpiryArg&) const = default;
};

// EX, PX, EXAT and PXAT, in any case; nothing for another word.
std::optional<ExpiryArg> ParseExpiryWord(std::string_view word);

// The deadline (unix ms) that an argument stands for. Replies an error and gives nothing when it is
// no integer, or out of range; a zero or negative argument is one too unless `any_sign`.
std::optional<int64_t> DeadlineArg(CommandContext& context, size_t index, ExpiryArg kind,
                                   bool any_sign = false);

// The expiry option of a command that takes at most one kind of it. The kind may be repeated, the
// last one counts; it is read when all options have been parsed, as Redis does, so that a wrong
// syntax is reported before a wrong number.
struct ExpiryOption {
  std::optional<ExpiryArg> kind;
  size_t index = 0;  // of the number

  // Takes the word at `at` and the number after it; false when the word is none, or of another
  // kind than before, or the last.
  bool Take(Args args, size_t& at);
  // Replies the error and returns false for a number that is no expiry. Without the option
  // `deadline` stays as it is.
  bool Read(CommandContext& context, std::optional<int64_t>& deadline) const;
};

}  // namespace tally::server
