#include "server/arguments/sample_args.h"

namespace tally::server {

std::optional<SampleCount> SampleCountArg(CommandContext& context, size_t index) {
  const auto count = context.Int64Arg(index);
  if (!count) return std::nullopt;
  if (*count == INT64_MIN) {
    context.reply.Error(
        "ERR value is out of range, value must between -9223372036854775807 and "
        "9223372036854775807");
    return std::nullopt;
  }
  if (*count < -kMaxRepeated) {
    context.reply.Error("ERR value is out of range");
    return std::nullopt;
  }
  return *count < 0 ? SampleCount{static_cast<size_t>(-*count), false}
                    : SampleCount{static_cast<size_t>(*count), true};
}

}  // namespace tally::server
