// A second server that knows of the first one only what the stream of its effects says: a sink, as
// a replica is one.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/engine_stream.h"
#include "server/command_harness.h"
#include "server/resp/parser.h"

namespace tally::server {

class EffectFollower final : private EffectSink {
 public:
  // Begins with what the followed server holds now. Nothing of that server may go away before.
  explicit EffectFollower(CommandHarness& followed)
      : followed_(followed), own_(ConfigOf(followed)) {
    own_.StopEffects();
    // Keys end by effects only.
    own_.engine.set_expiry(Expiry::kIgnore);
    std::string saved;
    REQUIRE(SaveEngine(followed.engine, [&](std::string_view bytes) {
              saved += bytes;
              return absl::OkStatus();
            }).ok());
    REQUIRE(LoadEngine(own_.engine, saved).ok());
    replaying_ = own_.Connect();
    followed_.state.effects.Attach(*this);
    next_ = followed_.state.effects.offset();
  }
  ~EffectFollower() { followed_.state.effects.Detach(*this); }

  // What the command replies here, after all effects until now.
  std::string Run(size_t database, const std::vector<std::string>& words) {
    followed_.state.effects.Deliver();
    own_.PassTo(followed_.now());
    own_.engine.set_deletion_lag_ms(followed_.engine.deletion_lag_ms());
    own_.self->database = database;
    return own_.Run(words);
  }
  uint64_t effects() const { return effects_; }

 private:
  static Config ConfigOf(const CommandHarness& followed) {
    Config config;
    config.databases = followed.config.databases;
    config.proto_max_bulk_len = followed.config.proto_max_bulk_len;
    return config;
  }

  void Receive(uint64_t offset, std::string_view effects) override {
    REQUIRE(offset == next_);
    next_ += effects.size();
    RequestParser parser;
    ParserLimits limits;
    limits.max_bulk = SIZE_MAX / 2;
    limits.authenticated = true;
    parser.set_limits(limits);
    // Effects are judged by their own instants, so that any other clock gives the same.
    own_.state.clock.Set(followed_.now() + 12'345);
    while (!effects.empty()) {
      REQUIRE(parser.Next(effects) == ParseStatus::kCommand);
      const CommandEntry* entry = own_.commands.Resolve(parser.args());
      REQUIRE(entry != nullptr);
      replaying_->output.Clear();
      own_.dispatcher.Replay(*replaying_, *entry, parser.args());
      INFO(parser.args()[0] << " " << parser.args().back().substr(0, 100) << ": "
                            << replaying_->output.Copy(0, 200));
      REQUIRE(replaying_->output.Copy(0, 1) != "-");
      effects.remove_prefix(parser.consumed());
      ++effects_;
    }
  }

  CommandHarness& followed_;
  CommandHarness own_;
  Client* replaying_ = nullptr;
  uint64_t next_ = 0;
  uint64_t effects_ = 0;
};

}  // namespace tally::server
