#include "server/resp/reply_reader.h"

#include "core/base/check.h"
#include "core/bytes/number.h"

namespace tally::server {
namespace {

constexpr size_t kLineEnd = 2;  // CR LF

int64_t ReadNumber(std::string_view digits) {
  int64_t number = 0;
  Check(ReadInt64(digits, number), "a reply's number is one");
  return number;
}

}  // namespace

ReplyPart ReplyReader::Next() {
  const size_t end = rest_.find('\r');
  Check(end != std::string_view::npos && end > 0, "a reply's parts are whole");
  ReplyPart part{static_cast<ReplyType>(rest_[0]), rest_.substr(1, end - 1), 0};
  rest_.remove_prefix(end + kLineEnd);
  switch (part.type) {
    case ReplyType::kInteger:
    case ReplyType::kSet:
    case ReplyType::kPush:
      part.number = ReadNumber(part.text);
      break;
    case ReplyType::kMap:
      part.number = 2 * ReadNumber(part.text);
      break;
    case ReplyType::kArray:
      part.number = ReadNumber(part.text);
      if (part.number < 0) part = {ReplyType::kNullArray, {}, 0};
      break;
    case ReplyType::kBulk:
    case ReplyType::kVerbatim: {
      const int64_t bytes = ReadNumber(part.text);
      if (bytes < 0) return {ReplyType::kNullBulk, {}, 0};
      const auto size = static_cast<size_t>(bytes);
      Check(rest_.size() >= kLineEnd && rest_.size() - kLineEnd >= size, "a string is whole");
      part.text = rest_.substr(0, size);
      rest_.remove_prefix(size + kLineEnd);
      break;
    }
    case ReplyType::kStatus:
    case ReplyType::kError:
    case ReplyType::kDouble:
    case ReplyType::kBool:
    case ReplyType::kBigNumber:
    case ReplyType::kNull:
      break;
    default:
      Check(false, "a reply has a known type");
  }
  return part;
}

std::string_view ErrorText(std::string_view reply) { return reply.substr(1, reply.find('\r') - 1); }

}  // namespace tally::server
