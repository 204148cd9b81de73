// Watches how long a script runs. After busy-reply-threshold the other clients are served in
// between, and the script can be ended: an error is raised in it that no pcall can stop.
//
// A hook looks at the clock after every kInstructions instructions of Lua. The work of a library
// function is not counted in instructions, so the functions that a script can keep busy for long
// call Check themselves.
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

  // Returns the watch of the engine that made this Lua state.
  static ScriptWatch& Of(lua_State* lua);

  // Begins to watch: until End, `main` runs the script `sha` for `caller`.
  void Begin(lua_State* main, std::string_view sha, Client& caller);
  void End();
  bool running() const { return main_ != nullptr; }

  // Makes the next Check end the script.
  void Kill() {
    killed_ = true;
    due_us_ = 0;
  }

  // Serves the other clients if that is due. If the script has to end, raises an error in `lua`,
  // which is the state or one of its coroutines. Call only where an error may be raised.
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
  int64_t due_us_ = 0;  // when Check has to do something next
  bool killed_ = false;
};

// Counts the steps in the loops of a library function, and calls Check every kSteps steps.
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
