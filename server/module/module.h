// The module: one engine, and what the commands of tallyd's own families need to run on it. The
// engine's keyspace is empty between two calls, because the server owns the keys.
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

// The options of `MODULE LOAD tally.so …`.
struct ModuleOptions {
  bool debug_clock = false;  // whether there is TALLY.CLOCK
  int64_t quota_retention_ms = ValueLimits().quota_retention_ms;
};

class Module final : private Keyspace::Observer {
 public:
  // `seed` is the key of the tables' hash function.
  Module(const ModuleOptions& options, uint64_t seed);
  ~Module() { engine_.set_observer(nullptr); }

  // Runs a call of the command that has this id in commands(), or tells the server where the call's
  // keys are, if that is what it asks. Returns what the server's callback must return.
  int Run(size_t id, redis::Context* context, redis::String** argv, int argc);

  // Whether the call is an effect that comes from a primary or from the AOF.
  static bool IsReplayed(redis::Context* context);

  Engine& engine() { return engine_; }
  const server::CommandTable& commands() const { return commands_; }
  ModuleClock& clock() { return clock_; }
  ValueTypes& types() { return types_; }
  PolicyFiles& policy_files() { return policy_files_; }

 private:
  void RunCall(const server::CommandEntry& entry, redis::Context* context, redis::String** argv,
               server::Args args);

  // Keyspace::Observer
  void OnExpired(Keyspace& keyspace, std::string_view key) override;

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
  std::vector<server::KeyReference> keys_;  // of the running call
  ByteBlocks output_;
  ReplyBridge reply_bridge_;
  bool running_ = false;
};

// Returns the loaded module. It is global, because the server passes no pointer of ours to
// callbacks.
Module& TheModule();

}  // namespace tally::module
