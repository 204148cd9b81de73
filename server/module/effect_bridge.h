// Effects of the families' handlers as what the server sends to its replicas and writes to its AOF.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/effects/effect_stream.h"
#include "server/module/redis_module.h"

namespace tally::module {

class EffectBridge final : public server::EffectWordSink {
 public:
  EffectBridge() = default;
  ~EffectBridge();
  EffectBridge(const EffectBridge&) = delete;
  EffectBridge& operator=(const EffectBridge&) = delete;

  // The call that is running, whose effects these are: its arguments, which many words of them are,
  // and how they look. The server knows in which database it runs.
  void Begin(redis::Context* context, std::span<redis::String* const> argv,
             std::span<const std::string_view> args) {
    context_ = context;
    argv_ = argv;
    args_ = args;
  }

  void ReceiveWords(std::span<const std::string_view> words) override;

 private:
  // The call's argument that is this word, in the same memory; null if there is none.
  redis::String* ArgumentOf(std::string_view word) const;
  // A word that most effects have, made once; null for another one.
  redis::String* CommonWord(std::string_view word);

  redis::Context* context_ = nullptr;
  std::span<redis::String* const> argv_;
  std::span<const std::string_view> args_;
  std::array<redis::String*, 5> common_{};
  std::string name_;                     // reused memory
  std::vector<redis::String*> strings_;  // likewise
  std::vector<redis::String*> made_;     // likewise
};

}  // namespace tally::module
