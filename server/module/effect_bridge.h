// Effects of the families' handlers as what the server sends to its replicas and writes to its AOF.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/effects/effect_stream.h"
#include "server/module/redis_module.h"
#include "server/resp/parser.h"

namespace tally::module {

class EffectBridge : public server::EffectSink {
 public:
  EffectBridge();

  // The call that is running, whose effects these are.
  void set_context(redis::Context* context) { context_ = context; }

  void Receive(uint64_t offset, std::string_view effects) override;

 private:
  void Replicate(server::EffectStream::Words words);

  redis::Context* context_ = nullptr;
  server::RequestParser parser_;
  std::string name_;                     // reused memory
  std::vector<redis::String*> strings_;  // likewise
};

}  // namespace tally::module
