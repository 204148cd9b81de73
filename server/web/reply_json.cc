#include "server/web/reply_json.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/http/json_text.h"
#include "server/resp/reply_reader.h"

namespace tally::server {
namespace {

// Scripts may nest their replies. A value that is nested deeper than this becomes null.
constexpr int kMaxReplyDepth = 100;

// Removes the next name from `names` and returns it. `own` is set to what follows the name's colon:
// the names of the elements of that element.
std::string_view TakeName(std::string_view& names, std::string_view& own) {
  size_t end = 0;
  for (int depth = 0; end < names.size() && (depth > 0 || names[end] != ' '); ++end) {
    depth += names[end] == '[' ? 1 : names[end] == ']' ? -1 : 0;
  }
  const std::string_view name = names.substr(0, end);
  names.remove_prefix(end < names.size() ? end + 1 : end);
  const size_t colon = name.find(':');
  own = colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  return name.substr(0, colon);
}

size_t CountNames(std::string_view names) {
  size_t count = 0;
  for (std::string_view own; !names.empty(); ++count) TakeName(names, own);
  return count;
}

// Whether a map with this key may be a JSON object. Keys that mark errors and strings of bytes may
// not: a map of users' data must not look like one of these.
bool MayBeMember(std::string_view key) { return key != "error" && key != "base64" && IsUtf8(key); }

// Returns for each map of the reply, in the order in which they begin, whether it becomes an
// object. All are judged in one pass, since maps may be nested: to look through each map when it
// begins would take O(bytes * depth).
std::vector<bool> FindObjects(std::string_view reply) {
  struct Open {
    size_t left;  // values that are still to come; of a map the even ones are keys
    size_t map;   // index in `objects`; of an array kNoMap
  };
  constexpr size_t kNoMap = SIZE_MAX;
  std::vector<bool> objects;
  if (reply.find('%') == std::string_view::npos) return objects;
  std::vector<Open> open{{1, kNoMap}};
  for (ReplyReader reader(reply); !reader.empty();) {
    while (!open.empty() && open.back().left == 0) open.pop_back();
    if (open.empty()) break;
    Open& parent = open.back();
    const bool is_key = parent.map != kNoMap && parent.left % 2 == 0;
    --parent.left;
    const ReplyPart part = reader.Next();
    const bool is_text = part.type == ReplyType::kStatus || part.type == ReplyType::kBulk;
    if (is_key && !(is_text && MayBeMember(part.text))) objects[parent.map] = false;
    const bool is_map = part.type == ReplyType::kMap;
    if (is_map) objects.push_back(true);
    if (part.is_aggregate()) {
      open.push_back({static_cast<size_t>(part.number), is_map ? objects.size() - 1 : kNoMap});
    }
  }
  return objects;
}

class JsonPrinter {
 public:
  JsonPrinter(std::string& out, std::string_view reply)
      : out_(out), rest_(reply), objects_(FindObjects(reply)) {}

  void Value(std::string_view names, int depth);

 private:
  void Array(size_t count, std::string_view names, int depth);
  void Object(size_t count, std::string_view names, int depth);
  void Map(size_t pairs, int depth);
  void Double(std::string_view text);
  void Skip();

  std::string& out_;
  ReplyReader rest_;
  const std::vector<bool> objects_;  // see FindObjects
  size_t next_map_ = 0;              // index in objects_ of the map that begins next
};

void JsonPrinter::Value(std::string_view names, int depth) {
  if (depth > kMaxReplyDepth || rest_.empty()) {
    Skip();
    out_ += "null";
    return;
  }
  const ReplyPart part = rest_.Next();
  const auto count = static_cast<size_t>(part.number);
  switch (part.type) {
    case ReplyType::kInteger:
    case ReplyType::kBigNumber:
      out_ += part.text;
      break;
    case ReplyType::kStatus:
    case ReplyType::kBulk:
      AppendJsonString(out_, part.text);
      break;
    case ReplyType::kVerbatim:
      // The format, such as "txt:", comes before the text.
      AppendJsonString(out_, part.text.substr(4));
      break;
    case ReplyType::kDouble:
      Double(part.text);
      break;
    case ReplyType::kBool:
      out_ += part.text == "t" ? "true" : "false";
      break;
    case ReplyType::kError:
      AppendErrorJson(out_, part.text);
      break;
    case ReplyType::kMap:
      Map(count / 2, depth);
      break;
    case ReplyType::kArray:
    case ReplyType::kSet:
    case ReplyType::kPush:
      Array(count, names, depth);
      break;
    case ReplyType::kNull:
    case ReplyType::kNullBulk:
    case ReplyType::kNullArray:
      out_ += "null";
      break;
  }
}

void JsonPrinter::Array(size_t count, std::string_view names, int depth) {
  const bool of_arrays = names.starts_with('[');
  if (!names.empty() && !of_arrays && CountNames(names) == count) {
    return Object(count, names, depth);
  }
  const std::string_view inner = of_arrays ? names.substr(1, names.size() - 2) : std::string_view();
  out_ += '[';
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out_ += ',';
    Value(inner, depth + 1);
  }
  out_ += ']';
}

void JsonPrinter::Object(size_t count, std::string_view names, int depth) {
  out_ += '{';
  for (size_t i = 0; i < count; ++i) {
    std::string_view own;
    StrAppend(out_, i > 0 ? ",\"" : "\"", TakeName(names, own), "\":");
    Value(own, depth + 1);
  }
  out_ += '}';
}

void JsonPrinter::Map(size_t pairs, int depth) {
  const bool object = objects_[next_map_++];
  out_ += object ? '{' : '[';
  for (size_t i = 0; i < pairs; ++i) {
    if (i > 0) out_ += ',';
    if (!object) out_ += '[';
    Value({}, depth + 1);
    out_ += object ? ':' : ',';
    Value({}, depth + 1);
    if (!object) out_ += ']';
  }
  out_ += object ? '}' : ']';
}

// An infinity becomes a string, because JSON has no number for it.
void JsonPrinter::Double(std::string_view text) {
  const bool finite = text.find_first_not_of("+-0123456789.e") == std::string_view::npos;
  if (finite) {
    out_ += text;
  } else {
    AppendJsonString(out_, text);
  }
}

// Skips one value, with all values inside it.
void JsonPrinter::Skip() {
  for (size_t values = 1; values > 0 && !rest_.empty(); --values) {
    const ReplyPart part = rest_.Next();
    if (part.type == ReplyType::kMap) ++next_map_;
    if (part.is_aggregate()) values += static_cast<size_t>(part.number);
  }
}

}  // namespace

void AppendReplyJson(std::string& out, std::string_view reply, std::string_view names) {
  JsonPrinter(out, reply).Value(names, 0);
}

}  // namespace tally::server
