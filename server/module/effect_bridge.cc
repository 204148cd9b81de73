#include "server/module/effect_bridge.h"

#include <cstddef>

#include "core/base/check.h"
#include "server/module/module_api.h"

namespace tally::module {

// What the server took, it sends: there is no limit to judge it by again.
EffectBridge::EffectBridge() : parser_({.max_bulk = SIZE_MAX / 2}) {}

void EffectBridge::Receive(uint64_t, std::string_view effects) {
  while (!effects.empty()) {
    const server::ParseStatus status = parser_.Next(effects);
    Check(status == server::ParseStatus::kCommand, "an effect is a command");
    // The server knows in which database the call runs.
    if (parser_.args().front() != "SELECT") Replicate(parser_.args());
    effects.remove_prefix(parser_.consumed());
  }
}

void EffectBridge::Replicate(server::EffectStream::Words words) {
  const redis::Api& api = redis::Functions();
  name_.assign(words.front());
  strings_.clear();
  for (const std::string_view word : words.subspan(1)) {
    strings_.push_back(api.CreateString(nullptr, word.data(), word.size()));
  }
  api.Replicate(context_, name_.c_str(), "v", strings_.data(), strings_.size());
  for (redis::String* string : strings_) api.FreeString(nullptr, string);
}

}  // namespace tally::module
