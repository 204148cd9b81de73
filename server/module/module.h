// The module: one engine, whose keyspace is empty between two calls since the server owns the keys,
// and what the commands of tallyd's own families need to run on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/bytes/byte_blocks.h"
#include "core/engine/engine.h"
#include "core/tzdata/tzdata_zones.h"
#include "server/command/command_host.h"
#include "server/command/command_table.h"
#include "server/module/effect_bridge.h"
#include "server/module/key_event_queue.h"
#include "server/module/module_clock.h"
#include "server/module/policy_files.h"
#include "server/module/redis_module.h"
#include "server/module/reply_bridge.h"
#include "server/module/value_types.h"

namespace tally::module {

// What `MODULE LOAD tally.so …` says.
struct ModuleOptions {
  bool debug_clock = false;  // TALLY.CLOCK is there
  int64_t quota_retention_ms = ValueLimits().quota_retention;
};

class Module final : private Keyspace::Observer {
 public:
  // `seed` keys the hash tables.
  Module(const ModuleOptions& options, uint64_t seed);
  ~Module() { engine_.set_observer(nullptr); }

  // Runs a call of the table's item with this id.
  int Run(size_t id, redis::Context* context, redis::String** argv, int argc);

  // Whether the call is an effect: of a primary's call, or in the AOF.
  static bool IsReplayed(redis::Context* context);

  Engine& engine() { return engine_; }
  const server::CommandTable& commands() const { return commands_; }
  ModuleClock& clock() { return clock_; }
  ValueTypes& types() { return types_; }
  PolicyFiles& policy_files() { return policy_files_; }

 private:
  using Item = server::CommandTable::Item;

  void RunCall(const Item& item, redis::Context* context, redis::String** argv, server::Args args);

  // Keyspace::Observer
  void OnExpired(Keyspace& keyspace, std::string_view key) override;
  void BeforeChange(Keyspace&, Keyspace::Segment&, std::string_view,
                    const Keyspace::Entry&) override {}

  TzdataZones zones_;
  Engine engine_;
  server::CommandTable commands_;
  ValueLimits limits_;
  EffectBridge effect_bridge_;
  server::EffectStream effects_{effect_bridge_};
  KeyEventQueue key_events_;
  server::Lookups lookups_;
  server::CommandHost host_;
  ModuleClock clock_;
  ValueTypes types_;
  PolicyFiles policy_files_;
  ByteBlocks output_;
  ReplyBridge reply_bridge_;
  bool running_ = false;
};

// The one that is loaded: callbacks of the server bring nothing of ours with them.
Module& TheModule();

}  // namespace tally::module
