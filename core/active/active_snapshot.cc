#include "core/active/active_snapshot.h"

#include <algorithm>

namespace tally {

void ActiveSnapshot::BeforeChange(uint32_t number, const Seen& seen) {
  if (number > last_number || number <= saved_number) return;
  std::vector<Change>& chunk = changed_[number / kChunkIds];
  const auto place = static_cast<uint8_t>(number % kChunkIds);
  const bool is_known = std::any_of(chunk.begin(), chunk.end(),
                                    [&](const Change& change) { return change.place == place; });
  if (!is_known) chunk.push_back({place, seen});
}

void ActiveSnapshot::BeforeForget(uint32_t number, std::string_view id, const Seen& seen) {
  if (number > last_number || number <= saved_number) return;
  BeforeChange(number, seen);
  forgotten_.emplace(number, id);
}

ActiveSnapshot::Seen ActiveSnapshot::SeenOf(uint32_t number, const Seen& now) const {
  const std::vector<Change>& chunk = changed_[number / kChunkIds];
  const auto place = static_cast<uint8_t>(number % kChunkIds);
  const auto found = std::find_if(chunk.begin(), chunk.end(),
                                  [&](const Change& change) { return change.place == place; });
  return found == chunk.end() ? now : found->seen;
}

const std::string* ActiveSnapshot::ForgottenId(uint32_t number) const {
  const auto found = forgotten_.find(number);
  return found == forgotten_.end() ? nullptr : &found->second;
}

}  // namespace tally
