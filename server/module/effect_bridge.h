// Gives the effects of the families' handlers to the server, which sends them to its replicas and
// writes them to its AOF.
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

  // Sets the call whose effects come next. `argv` is its arguments, and `args` the views of their
  // bytes: many words of effects are arguments of the call, and are passed on without a copy. The
  // server itself knows the call's database.
  void Begin(redis::Context* context, std::span<redis::String* const> argv,
             std::span<const std::string_view> args) {
    context_ = context;
    argv_ = argv;
    args_ = args;
  }

  void ReceiveWords(std::span<const std::string_view> words) override;

 private:
  // Returns the call's argument whose memory `word` is; null if there is none. O(1) for the
  // argument after the last one that was found, as effects have most of them in the order of the
  // call.
  redis::String* ArgumentOf(std::string_view word);
  // Returns a string for a word that many effects have, which is made only once; null for other
  // words.
  redis::String* CommonWord(std::string_view word);

  redis::Context* context_ = nullptr;
  std::span<redis::String* const> argv_;
  std::span<const std::string_view> args_;
  size_t next_ = 0;  // index of the argument that is probably the next word
  std::array<redis::String*, 5> common_{};
  std::string name_;                     // reused memory
  std::vector<redis::String*> strings_;  // likewise
  std::vector<redis::String*> made_;     // likewise
};

}  // namespace tally::module
