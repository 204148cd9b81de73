#include "server/web/reply_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/http/json_text.h"

namespace tally::server {
namespace {

// Scripts may nest their replies. A value that is nested deeper than this becomes null.
constexpr int kMaxDepth = 100;

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

// Takes a reply apart, from its front.
class ReplyBytes {
 public:
  explicit ReplyBytes(std::string_view reply) : rest_(reply) {}

  bool empty() const { return rest_.empty(); }
  std::string_view TakeLine();
  // Takes the bytes of a string after its line, which gives their number.
  std::string_view TakeBytes(std::string_view size);

 private:
  std::string_view rest_;
};

std::string_view ReplyBytes::TakeLine() {
  const size_t end = rest_.find("\r\n");
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
  return line;
}

std::string_view ReplyBytes::TakeBytes(std::string_view size) {
  const auto bytes = static_cast<size_t>(ParseInt64(size).value_or(0));
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(std::min(bytes + 2, rest_.size()));
  return taken;
}

bool IsAggregate(char type) { return type == '*' || type == '~' || type == '>' || type == '%'; }

size_t CountOf(std::string_view text) {
  return static_cast<size_t>(std::max<int64_t>(ParseInt64(text).value_or(0), 0));
}

bool HasBytes(std::string_view line) {
  return !line.empty() && (line[0] == '$' || line[0] == '=') && line.substr(1) != "-1";
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
  for (ReplyBytes bytes(reply); !bytes.empty();) {
    while (!open.empty() && open.back().left == 0) open.pop_back();
    if (open.empty()) break;
    Open& parent = open.back();
    const bool is_key = parent.map != kNoMap && parent.left % 2 == 0;
    --parent.left;
    const std::string_view line = bytes.TakeLine();
    const char type = line.empty() ? '_' : line[0];
    const std::string_view text = line.substr(line.empty() ? 0 : 1);
    const std::string_view value = HasBytes(line) ? bytes.TakeBytes(text) : text;
    const bool is_text = type == '+' || (type == '$' && HasBytes(line));
    if (is_key && !(is_text && MayBeMember(value))) objects[parent.map] = false;
    if (type == '%') objects.push_back(true);
    if (IsAggregate(type)) {
      const bool map = type == '%';
      open.push_back({CountOf(text) * (map ? 2 : 1), map ? objects.size() - 1 : kNoMap});
    }
  }
  return objects;
}

class ReplyReader {
 public:
  ReplyReader(std::string& out, std::string_view reply)
      : out_(out), rest_(reply), objects_(FindObjects(reply)) {}

  void Value(std::string_view names, int depth);

 private:
  void Array(size_t count, std::string_view names, int depth);
  void Object(size_t count, std::string_view names, int depth);
  void Map(size_t pairs, int depth);
  void Double(std::string_view text);
  void Skip();

  std::string& out_;
  ReplyBytes rest_;
  const std::vector<bool> objects_;  // see FindObjects
  size_t next_map_ = 0;              // index in objects_ of the map that begins next
};

void ReplyReader::Value(std::string_view names, int depth) {
  if (depth > kMaxDepth || rest_.empty()) {
    Skip();
    out_ += "null";
    return;
  }
  const std::string_view line = rest_.TakeLine();
  const char type = line.empty() ? '_' : line[0];
  const std::string_view text = line.substr(line.empty() ? 0 : 1);
  const bool is_null = type == '_' || ((type == '$' || type == '*') && text == "-1");
  if (type == ':' || type == '(') {
    out_ += text;
  } else if (is_null) {
    out_ += "null";
  } else if (type == '$') {
    AppendJsonString(out_, rest_.TakeBytes(text));
  } else if (type == '=') {
    // The format, such as "txt:", comes before the text.
    AppendJsonString(out_, rest_.TakeBytes(text).substr(4));
  } else if (type == ',') {
    Double(text);
  } else if (type == '#') {
    out_ += text == "t" ? "true" : "false";
  } else if (type == '-') {
    AppendErrorJson(out_, text);
  } else if (type == '%') {
    Map(CountOf(text), depth);
  } else if (IsAggregate(type)) {
    Array(CountOf(text), names, depth);
  } else {
    AppendJsonString(out_, text);
  }
}

void ReplyReader::Array(size_t count, std::string_view names, int depth) {
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

void ReplyReader::Object(size_t count, std::string_view names, int depth) {
  out_ += '{';
  for (size_t i = 0; i < count; ++i) {
    std::string_view own;
    StrAppend(out_, i > 0 ? ",\"" : "\"", TakeName(names, own), "\":");
    Value(own, depth + 1);
  }
  out_ += '}';
}

void ReplyReader::Map(size_t pairs, int depth) {
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
void ReplyReader::Double(std::string_view text) {
  const bool finite = text.find_first_not_of("+-0123456789.e") == std::string_view::npos;
  if (finite) {
    out_ += text;
  } else {
    AppendJsonString(out_, text);
  }
}

// Skips one value, with all values inside it.
void ReplyReader::Skip() {
  for (size_t values = 1; values > 0 && !rest_.empty(); --values) {
    const std::string_view line = rest_.TakeLine();
    if (line.empty()) continue;
    const std::string_view text = line.substr(1);
    if (HasBytes(line)) rest_.TakeBytes(text);
    if (line[0] == '%') ++next_map_;
    if (IsAggregate(line[0])) values += CountOf(text) * (line[0] == '%' ? 2 : 1);
  }
}

}  // namespace

void AppendReplyJson(std::string& out, std::string_view reply, std::string_view names) {
  ReplyReader(out, reply).Value(names, 0);
}

}  // namespace tally::server
