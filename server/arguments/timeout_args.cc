#include "server/arguments/timeout_args.h"

#include <cmath>

#include "core/bytes/double_format.h"

namespace tally::server {

std::optional<int64_t> TimeoutArg(CommandContext& context, size_t index) {
  const auto seconds = ParseLongDouble(context.args[index]);
  if (!seconds) {
    context.reply.Error("ERR timeout is not a float or out of range");
    return std::nullopt;
  }
  const long double ms = std::ceil(*seconds * 1000);
  if (ms < 0) {
    context.reply.Error("ERR timeout is negative");
  } else if (ms >= 0x1p63L) {
    context.reply.Error("ERR timeout is out of range");
  } else {
    return static_cast<int64_t>(ms);
  }
  return std::nullopt;
}

}  // namespace tally::server
