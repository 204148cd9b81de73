#include "server/module/reply_bridge.h"

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "server/module/module_api.h"

namespace tally::module {

void ReplyBridge::Send(redis::Context* context, std::string_view reply) {
  while (!reply.empty()) SendPart(context, reply);
}

void ReplyBridge::SendPart(redis::Context* context, std::string_view& reply) {
  const redis::Api& api = redis::Functions();
  const size_t end = reply.find('\r');
  Check(end != std::string_view::npos, "a reply has lines");
  const char kind = reply.front();
  const std::string_view text = reply.substr(1, end - 1);
  reply.remove_prefix(end + 2);
  if (kind == '+' || kind == '-') {
    line_.assign(text);
    // A zero byte would end the C string.
    std::replace(line_.begin(), line_.end(), '\0', ' ');
    (kind == '+' ? api.ReplyWithSimpleString : api.ReplyWithError)(context, line_.c_str());
    return;
  }
  const auto number = ParseInt64(text);
  Check(number.has_value(), "a reply's number is one");
  if (kind == ':') {
    api.ReplyWithLongLong(context, *number);
  } else if (kind == '*') {
    if (*number < 0) {
      api.ReplyWithNullArray(context);
    } else {
      api.ReplyWithArray(context, static_cast<long>(*number));
    }
  } else {
    Check(kind == '$', "a reply's part is of a known kind");
    if (*number < 0) {
      api.ReplyWithNull(context);
      return;
    }
    const auto size = static_cast<size_t>(*number);
    api.ReplyWithStringBuffer(context, reply.data(), size);
    reply.remove_prefix(size + 2);
  }
}

}  // namespace tally::module
