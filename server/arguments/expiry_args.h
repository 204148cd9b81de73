// Arguments that set the deadline of a key.
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

// Reads EX, PX, EXAT or PXAT, in any case; returns nothing for another word.
std::optional<ExpiryArg> ParseExpiryWord(std::string_view word);

// Returns the deadline (unix ms) that an argument means. Replies an error and returns nothing if
// the argument is not an integer or out of range; 0 and negative numbers are out of range unless
// `any_sign`.
std::optional<int64_t> DeadlineArg(CommandContext& context, size_t index, ExpiryArg kind,
                                   bool any_sign = false);

// The expiry option of a command that allows only one kind of it in a call. The same kind may be
// repeated; the last one counts. The number is read after all options have been parsed, as in
// Redis, so that wrong syntax is reported before a wrong number.
struct ExpiryOption {
  std::optional<ExpiryArg> kind;
  size_t index = 0;  // of the number

  // Takes the word at `at` and the number after it, to which it moves `at`. Returns false if the
  // word is no expiry word, is of another kind than before, or is the last word.
  bool Take(Args args, size_t& at);
  // Sets `deadline_ms` (unix ms); leaves it as it is if the call has no expiry option. Returns
  // false after replying an error if the number is not valid.
  bool Read(CommandContext& context, std::optional<int64_t>& deadline_ms) const;
};

}  // namespace tally::server
