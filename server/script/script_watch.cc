#include "server/script/script_watch.h"

#include <limits>

#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/process.h"
#include "server/interfaces/services.h"
#include "server/log/log.h"
#include "server/script/script_engine.h"
#include "server/script/script_error.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// A busy script runs for about this long before the other clients are served again.
constexpr int64_t kOwnMicros = 1000;

void Hook(lua_State* lua, lua_Debug*) { ScriptWatch::Of(lua).Check(lua); }

}  // namespace

ScriptWatch& ScriptWatch::Of(lua_State* lua) {
  void* engine = nullptr;
  lua_getallocf(lua, &engine);
  return static_cast<ScriptEngine*>(engine)->watch();
}

void ScriptWatch::Begin(lua_State* main, std::string_view sha, Client& caller) {
  main_ = main;
  sha_ = sha;
  caller_ = &caller;
  killed_ = false;
  due_us_ = std::numeric_limits<int64_t>::max();
  const int64_t threshold_ms = server_.config.busy_reply_threshold;
  if (threshold_ms == 0) return;
  int64_t due_us = 0;
  const bool is_far = __builtin_mul_overflow(threshold_ms, 1000, &due_us) ||
                      __builtin_add_overflow(due_us, Clock::MonotonicMicros(), &due_us);
  if (!is_far) due_us_ = due_us;
  lua_sethook(main, Hook, LUA_MASKCOUNT, kInstructions);
}

void ScriptWatch::End() {
  lua_sethook(main_, nullptr, 0, 0);
  main_ = nullptr;
  if (!server_.script_busy) return;
  server_.script_busy = false;
  const int64_t stood_at_ms = server_.clock.elapsed_ms();
  server_.clock.Tick();
  // Clients that were active while the clock was stopped have the time of the script's begin. Give
  // them the present time.
  const int64_t now_ms = server_.clock.elapsed_ms();
  server_.clients.ForEach([&](Client& client) {
    if (client.last_active_ms == stood_at_ms) client.last_active_ms = now_ms;
  });
}

void ScriptWatch::Overdue(lua_State* lua) {
  if (!killed_) {
    if (!server_.script_busy) BecomeBusy();
    if (!server_.process->ServeOthers()) GiveUp();
    if (!killed_) {
      due_us_ = Clock::MonotonicMicros() + kOwnMicros;
      return;
    }
  }
  // If the script catches the error, it gets the next one at its next line or in the next round of
  // a loop.
  lua_sethook(main_, Hook, LUA_MASKLINE, 0);
  lua_sethook(lua, Hook, LUA_MASKLINE, 0);
  RaiseError(lua, "Script killed by user with SCRIPT KILL...");
}

void ScriptWatch::BecomeBusy() {
  server_.script_busy = true;
  server_.log.Warning(
      "Slow script detected: still in execution after ", server_.config.busy_reply_threshold,
      " milliseconds. You can try killing the script using the SCRIPT KILL command. "
      "Script name is: ",
      sha_);
}

// The server is ending. What the script has done, or the transaction that it is part of, is not
// logged, so nothing of it may be acknowledged.
void ScriptWatch::GiveUp() {
  if (!killed_) server_.log.Warning("The script ", sha_, " is given up, with all it has done");
  Kill();
  server_.effects.AbandonBlock();
  caller_->state.end.Finish();
  if (caller_->transport != nullptr) caller_->transport->Close();
}

void StepCounter::Ask() {
  left_ = kSteps;
  ScriptWatch::Of(lua_).Check(lua_);
}

}  // namespace tally::server
