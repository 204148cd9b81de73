#include "server/arguments/expiry_args.h"

#include <algorithm>

#include "core/bytes/str_cat.h"

namespace tally::server {

std::optional<ExpiryArg> ParseExpiryWord(std::string_view word) {
  if (IsWord(word, "ex")) return ExpiryArg{TimeUnit::kSeconds, false};
  if (IsWord(word, "px")) return ExpiryArg{TimeUnit::kMilliseconds, false};
  if (IsWord(word, "exat")) return ExpiryArg{TimeUnit::kSeconds, true};
  if (IsWord(word, "pxat")) return ExpiryArg{TimeUnit::kMilliseconds, true};
  return std::nullopt;
}

std::optional<int64_t> DeadlineArg(CommandContext& context, size_t index, ExpiryArg kind,
                                   bool any_sign) {
  const auto value = context.Int64Arg(index);
  if (!value) return std::nullopt;
  int64_t deadline_ms = *value;
  bool bad = !any_sign && deadline_ms <= 0;
  if (kind.unit == TimeUnit::kSeconds)
    bad |= __builtin_mul_overflow(deadline_ms, 1000, &deadline_ms);
  if (!kind.absolute) bad |= __builtin_add_overflow(deadline_ms, context.now_ms, &deadline_ms);
  if (bad) {
    context.reply.Error(
        StrCat("ERR invalid expire time in '", context.entry.full_name, "' command"));
    return std::nullopt;
  }
  // kNoDeadline is the largest number, so the latest deadline is 1 ms before it.
  return std::min(deadline_ms, kNoDeadline - 1);
}

bool ExpiryOption::Take(Args args, size_t& at) {
  const auto word = ParseExpiryWord(args[at]);
  if (!word || (kind && *kind != *word) || at + 1 == args.size()) return false;
  kind = word;
  index = ++at;
  return true;
}

bool ExpiryOption::Read(CommandContext& context, std::optional<int64_t>& deadline_ms) const {
  if (!kind) return true;
  deadline_ms = DeadlineArg(context, index, *kind);
  return deadline_ms.has_value();
}

}  // namespace tally::server
