#include "server/http/percent.h"

#include "core/words/word.h"

namespace tally::server {
namespace {

// -1 if it is no hexadecimal digit.
int HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = HexValue(text[i + 1]);
    const int low = HexValue(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

std::optional<QueryFields> ParseQuery(std::string_view query) {
  QueryFields fields;
  while (!query.empty()) {
    std::string_view field = TakeUntil(query, '&');
    if (field.empty()) continue;
    auto name = PercentDecoded(TakeUntil(field, '='));
    auto value = PercentDecoded(field);
    if (!name || !value) return std::nullopt;
    fields.emplace_back(*std::move(name), *std::move(value));
  }
  return fields;
}

}  // namespace tally::server
