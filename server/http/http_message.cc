#include "server/http/http_message.h"

#include "core/words/word.h"

namespace tally::server {

std::optional<std::string_view> HttpRequest::Header(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (IsWord(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> HttpRequest::Query(std::string_view name) const {
  for (const auto& [field, value] : query) {
    if (field == name) return value;
  }
  return std::nullopt;
}

}  // namespace tally::server
