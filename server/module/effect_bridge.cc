#include "server/module/effect_bridge.h"

#include <cstddef>

#include "server/module/module_api.h"

namespace tally::module {
namespace {

constexpr std::array<std::string_view, 5> kCommonWords = {"AT", "COST", "COUNT", "NOW", "1"};

}  // namespace

EffectBridge::~EffectBridge() {
  for (redis::String* string : common_) {
    if (string != nullptr) redis::Functions().FreeString(nullptr, string);
  }
}

redis::String* EffectBridge::CommonWord(std::string_view word) {
  if (word.size() > 5) return nullptr;
  for (size_t i = 0; i < kCommonWords.size(); ++i) {
    if (word != kCommonWords[i]) continue;
    if (common_[i] == nullptr) {
      common_[i] = redis::Functions().CreateString(nullptr, word.data(), word.size());
    }
    return common_[i];
  }
  return nullptr;
}

redis::String* EffectBridge::ArgumentOf(std::string_view word) const {
  for (size_t i = 0; i < args_.size(); ++i) {
    if (args_[i].data() == word.data() && args_[i].size() == word.size()) return argv_[i];
  }
  return nullptr;
}

void EffectBridge::ReceiveWords(std::span<const std::string_view> words) {
  const redis::Api& api = redis::Functions();
  name_.assign(words.front());
  strings_.clear();
  made_.clear();
  for (const std::string_view word : words.subspan(1)) {
    redis::String* string = ArgumentOf(word);
    if (string == nullptr) string = CommonWord(word);
    if (string == nullptr) {
      string = api.CreateString(nullptr, word.data(), word.size());
      made_.push_back(string);
    }
    strings_.push_back(string);
  }
  api.Replicate(context_, name_.c_str(), "v", strings_.data(), strings_.size());
  for (redis::String* string : made_) api.FreeString(nullptr, string);
}

}  // namespace tally::module
