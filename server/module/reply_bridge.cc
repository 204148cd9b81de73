#include "server/module/reply_bridge.h"

#include <algorithm>

#include "core/base/check.h"
#include "server/module/module_api.h"

namespace tally::module {

using server::ReplyType;

void ReplyBridge::Send(redis::Context* context, std::string_view reply) {
  for (server::ReplyReader reader(reply); !reader.empty();) SendPart(context, reader.Next());
}

const char* ReplyBridge::Line(std::string_view text) {
  line_.assign(text);
  std::replace(line_.begin(), line_.end(), '\0', ' ');
  return line_.c_str();
}

void ReplyBridge::SendPart(redis::Context* context, const server::ReplyPart& part) {
  const redis::Api& api = redis::Functions();
  switch (part.type) {
    case ReplyType::kStatus:
      api.ReplyWithSimpleString(context, Line(part.text));
      break;
    case ReplyType::kError:
      api.ReplyWithError(context, Line(part.text));
      break;
    case ReplyType::kInteger:
      api.ReplyWithLongLong(context, part.number);
      break;
    case ReplyType::kArray:
      api.ReplyWithArray(context, static_cast<long>(part.number));
      break;
    case ReplyType::kBulk:
      api.ReplyWithStringBuffer(context, part.text.data(), part.text.size());
      break;
    case ReplyType::kNullBulk:
      api.ReplyWithNull(context);
      break;
    case ReplyType::kNullArray:
      api.ReplyWithNullArray(context);
      break;
    default:
      Check(false, "a reply in RESP2 has parts of RESP2");
  }
}

}  // namespace tally::module
