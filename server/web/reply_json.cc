#include "server/web/reply_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

class ReplyReader {
 public:
  ReplyReader(std::string& out, std::string_view reply) : out_(out), rest_(reply) {}

  void Value(std::string_view names, int depth);

 private:
  std::string_view TakeLine();
  std::string_view TakeBytes(std::string_view size);
  void Array(size_t count, std::string_view names, int depth);
  void Object(size_t count, std::string_view names, int depth);
  void Map(size_t pairs, int depth);
  void Double(std::string_view text);
  // Whether the keys of the next `pairs` pairs of key and value are all UTF-8 text.
  bool HasTextKeys(size_t pairs) const;
  void Skip();

  std::string& out_;
  std::string_view rest_;
};

std::string_view ReplyReader::TakeLine() {
  const size_t end = rest_.find("\r\n");
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
  return line;
}

std::string_view ReplyReader::TakeBytes(std::string_view size) {
  const auto bytes = static_cast<size_t>(ParseInt64(size).value_or(0));
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(std::min(bytes + 2, rest_.size()));
  return taken;
}

bool IsAggregate(char type) { return type == '*' || type == '~' || type == '>' || type == '%'; }

size_t CountOf(std::string_view text) {
  return static_cast<size_t>(std::max<int64_t>(ParseInt64(text).value_or(0), 0));
}

void ReplyReader::Value(std::string_view names, int depth) {
  if (depth > kMaxDepth || rest_.empty()) {
    Skip();
    out_ += "null";
    return;
  }
  const std::string_view line = TakeLine();
  const char type = line.empty() ? '_' : line[0];
  const std::string_view text = line.substr(line.empty() ? 0 : 1);
  const bool is_null = type == '_' || text == "-1";
  if (type == ':' || type == '(') {
    out_ += text;
  } else if (is_null) {
    out_ += "null";
  } else if (type == '$') {
    AppendJsonString(out_, TakeBytes(text));
  } else if (type == '=') {
    // The format, such as "txt:", comes before the text.
    AppendJsonString(out_, TakeBytes(text).substr(4));
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
  const bool object = HasTextKeys(pairs);
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

bool ReplyReader::HasTextKeys(size_t pairs) const {
  std::string ignored;
  ReplyReader ahead(ignored, rest_);
  for (size_t i = 0; i < pairs; ++i) {
    const std::string_view line = ahead.TakeLine();
    if (line.empty() || (line[0] != '$' && line[0] != '+')) return false;
    const std::string_view key = line[0] == '$' ? ahead.TakeBytes(line.substr(1)) : line.substr(1);
    if (!IsUtf8(key)) return false;
    ahead.Skip();
  }
  return true;
}

// Skips one value, with all values inside it.
void ReplyReader::Skip() {
  for (size_t values = 1; values > 0 && !rest_.empty(); --values) {
    const std::string_view line = TakeLine();
    if (line.empty()) continue;
    const std::string_view text = line.substr(1);
    if ((line[0] == '$' || line[0] == '=') && text != "-1") TakeBytes(text);
    if (IsAggregate(line[0])) values += CountOf(text) * (line[0] == '%' ? 2 : 1);
  }
}

}  // namespace

void AppendReplyJson(std::string& out, std::string_view reply, std::string_view names) {
  ReplyReader(out, reply).Value(names, 0);
}

std::string_view ErrorCode(std::string_view text) { return text.substr(0, text.find(' ')); }

void AppendErrorJson(std::string& out, std::string_view text) {
  out += "{\"error\":";
  AppendJsonString(out, text);
  out += ",\"code\":";
  AppendJsonString(out, ErrorCode(text));
  out += '}';
}

}  // namespace tally::server
