#include "server/module/effect_bridge.h"

#include <algorithm>
#include <cstddef>

#include "server/module/module_api.h"

namespace tally::module {
namespace {

// The words that many effects have. Each has another size, so its size is its place, from 1.
constexpr std::array<std::string_view, 5> kCommonWords = {"1", "AT", "NOW", "COST", "COUNT"};

}  // namespace

EffectBridge::~EffectBridge() {
  for (redis::String* string : common_) {
    if (string != nullptr) redis::Functions().FreeString(nullptr, string);
  }
}

redis::String* EffectBridge::CommonWord(std::string_view word) {
  const size_t place = word.size() - 1;
  if (place >= kCommonWords.size() || word != kCommonWords[place]) return nullptr;
  redis::String*& common = common_[place];
  if (common == nullptr) {
    common = redis::Functions().CreateString(nullptr, word.data(), word.size());
  }
  return common;
}

redis::String* EffectBridge::ArgumentOf(std::string_view word) {
  const auto is_word = [word](std::string_view arg) {
    return arg.data() == word.data() && arg.size() == word.size();
  };
  if (next_ >= args_.size() || !is_word(args_[next_])) {
    const auto found = std::find_if(args_.begin(), args_.end(), is_word);
    if (found == args_.end()) return nullptr;
    next_ = static_cast<size_t>(found - args_.begin());
  }
  return argv_[next_++];
}

void EffectBridge::ReceiveWords(std::span<const std::string_view> words) {
  const redis::Api& api = redis::Functions();
  name_.assign(words.front());
  strings_.clear();
  made_.clear();
  next_ = 1;
  for (const std::string_view word : words.subspan(1)) {
    redis::String* string = CommonWord(word);
    if (string == nullptr) string = ArgumentOf(word);
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
