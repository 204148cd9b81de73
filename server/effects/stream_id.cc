#include "server/effects/stream_id.h"

#include <algorithm>

namespace tally::server {

bool StreamId::IsId(std::string_view word) {
  return word.size() == kDigits && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void StreamId::Shift(std::string id, uint64_t offset) {
  previous_ = std::move(id_);
  previous_end_ = offset;
  id_ = std::move(id);
}

void StreamId::Adopt(std::string id) {
  id_ = std::move(id);
  previous_ = None();
  previous_end_ = 0;
}

void StreamId::Follow(std::string id, uint64_t offset) {
  if (id != id_) Shift(std::move(id), offset);
}

bool StreamId::Continues(std::string_view id, uint64_t offset, uint64_t end) const {
  if (id == id_) return offset <= end;
  return has_previous() && id == previous_ && offset <= std::min(previous_end_, end);
}

}  // namespace tally::server
