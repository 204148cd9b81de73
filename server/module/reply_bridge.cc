#include "server/module/reply_bridge.h"

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

constexpr std::string_view kCrLf = "\r\n";

// Removes a line from the front of `reply`, and returns it without its end.
std::string_view TakeLine(std::string_view& reply) {
  const size_t end = reply.find('\r');
  Check(end != std::string_view::npos, "a reply has lines");
  const std::string_view line = reply.substr(0, end);
  reply.remove_prefix(end + kCrLf.size());
  return line;
}

int64_t TakeNumber(std::string_view& reply) {
  int64_t number = 0;
  Check(ReadInt64(TakeLine(reply), number), "a reply's number is one");
  return number;
}

}  // namespace

void ReplyBridge::Send(redis::Context* context, std::string_view reply) {
  while (!reply.empty()) SendPart(context, reply);
}

void ReplyBridge::SendPart(redis::Context* context, std::string_view& reply) {
  const redis::Api& api = redis::Functions();
  const char kind = reply.front();
  reply.remove_prefix(1);
  if (kind == '+' || kind == '-') {
    line_.assign(TakeLine(reply));
    // A zero byte would end the C string.
    std::replace(line_.begin(), line_.end(), '\0', ' ');
    (kind == '+' ? api.ReplyWithSimpleString : api.ReplyWithError)(context, line_.c_str());
    return;
  }
  const int64_t number = TakeNumber(reply);
  if (kind == ':') {
    api.ReplyWithLongLong(context, number);
  } else if (kind == '*') {
    if (number < 0) {
      api.ReplyWithNullArray(context);
    } else {
      api.ReplyWithArray(context, static_cast<long>(number));
    }
  } else {
    Check(kind == '$', "a reply's part is of a known kind");
    if (number < 0) {
      api.ReplyWithNull(context);
      return;
    }
    const auto size = static_cast<size_t>(number);
    api.ReplyWithStringBuffer(context, reply.data(), size);
    reply.remove_prefix(size + kCrLf.size());
  }
}

}  // namespace tally::module
