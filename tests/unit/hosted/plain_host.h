// The smallest host of the commands on values: no server, no sockets, no files, no clients.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/byte_blocks.h"
#include "core/engine/engine.h"
#include "core/time/zone_source.h"
#include "server/command/command_context.h"
#include "server/command/command_host.h"
#include "server/commands/families.h"
#include "server/effects/effect_stream.h"
#include "server/resp/parser.h"
#include "server/resp/reply.h"

namespace tally::server {

class PlainHost : private Keyspace::Observer, private KeyEvents, private EffectSink {
 public:
  using Words = std::vector<std::string_view>;

  PlainHost() {
    engine_.set_observer(this);
    effects_.Attach(*this);
  }
  ~PlainHost() {
    effects_.Detach(*this);
    engine_.set_observer(nullptr);
  }

  int64_t now = 1'700'000'000'000;  // unix ms
  std::string log;                  // the effects delivered so far
  size_t changes = 0;               // that were reported of keys

  // The reply in wire format.
  std::string Run(const Words& words) { return Call(words, false); }
  // What another host has logged.
  void Replay(std::string_view effects) {
    engine_.set_expiry(Expiry::kIgnore);
    RequestParser parser;
    while (!effects.empty()) {
      REQUIRE(parser.Next(effects) == ParseStatus::kCommand);
      const std::span<const std::string_view> args = parser.args();
      if (args[0] != "SELECT") {
        const std::string reply = Call({args.begin(), args.end()}, true);
        REQUIRE_FALSE(reply.starts_with('-'));
      }
      effects.remove_prefix(parser.consumed());
    }
    engine_.set_expiry(Expiry::kRemove);
  }
  void Deliver() { effects_.Deliver(); }
  const CommandTable& commands() const { return commands_; }
  EffectStream& effects() { return effects_; }

 private:
  std::string Call(const Words& words, bool replaying) {
    const CommandEntry* entry = commands_.Resolve(words);
    REQUIRE(entry != nullptr);
    REQUIRE(ArityFits(*entry->command, words.size()));
    ByteBlocks output;
    ReplyBuilder reply(output);
    CommandContext context(
        host_, reply,
        {.entry = *entry, .args = words, .database = 0, .now_ms = now, .replaying = replaying});
    entry->command->handler.Run(context);
    const bool changed = context.changes() > 0 && !context.logged();
    if (changed) effects_.Append(0, tally::Words(words));
    return output.Joined();
  }

  // Keyspace::Observer
  void OnExpired(Keyspace&, std::string_view key) override { effects_.Append(0, {"DEL", key}); }
  // KeyEvents
  void Changed(uint32_t, std::string_view, size_t, std::string_view) override { ++changes; }
  void Touched(size_t, std::string_view) override {}
  void Notify(uint32_t, std::string_view, size_t, std::string_view) override {}
  // EffectSink
  void Receive(uint64_t, std::string_view effects) override { log += effects; }

  UtcOnly zones_;
  Engine engine_{1, 42, zones_};
  CommandTable commands_{ValueFamilies()};
  ValueLimits limits_;
  EffectStream effects_;
  Lookups lookups_;
  CommandHost host_{.engine = engine_,
                    .commands = commands_,
                    .limits = limits_,
                    .effects = effects_,
                    .key_events = *this,
                    .lookups = lookups_,
                    .cursors = CursorCode(1),
                    .random = std::mt19937_64(1)};
};

}  // namespace tally::server
