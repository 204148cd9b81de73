// Watches over the time that a script takes. Past busy-reply-threshold the other clients are served
// in between, and the script can be ended: an error is raised in it that no pcall holds up.
//
// A hook looks at the clock every kInstructions of Lua's. What a library function does is no
// instruction, so the functions that a script can keep busy for long call Check themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <string_view>

#include "server/state/client.h"
#include "server/state/clock.h"

namespace tally::server {

struct Services;

class ScriptWatch {
 public:
  explicit ScriptWatch(Services& server) : server_(server) {}

  // The watch of the state that the engine made.
  static ScriptWatch& Of(lua_State* lua);

  // From now on `main` runs the script `sha`, for `caller`; until End.
  void Begin(lua_State* main, std::string_view sha, Client& caller);
  void End();
  bool running() const { return main_ != nullptr; }

  // Ends the script when it is asked next.
  void Kill() {
    killed_ = true;
    due_us_ = 0;
  }

  // Asks: serves the others if that is due, and raises an error in `lua`, the state or one of its
  // coroutines, if the script has to end. Call where an error may be raised.
  void Check(lua_State* lua) {
    if (Clock::MonotonicMicros() >= due_us_) [[unlikely]]
      Overdue(lua);
  }

  static constexpr int kInstructions = 1000;

 private:
  void Overdue(lua_State* lua);
  void BecomeBusy();
  void GiveUp();

  Services& server_;
  lua_State* main_ = nullptr;
  std::string_view sha_;
  Client* caller_ = nullptr;
  int64_t due_us_ = 0;  // when there is next something to do
  bool killed_ = false;
};

// Counts the steps of a library function's loops, and asks the watch now and then.
class StepCounter {
 public:
  explicit StepCounter(lua_State* lua) : lua_(lua) {}

  void Step() {
    if (--left_ == 0) Ask();
  }

 private:
  static constexpr size_t kSteps = 10000;

  void Ask();

  lua_State* lua_;
  size_t left_ = kSteps;
};

}  // namespace tally::server
