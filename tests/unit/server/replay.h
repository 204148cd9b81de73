// Runs what one server has logged in another, at a time of its own, as loading does.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "server/command_harness.h"

namespace tally::server {

// Words of the effects have no blanks.
inline void ReplayInto(CommandHarness& target, const std::vector<std::string>& effects,
                       int64_t clock_ms) {
  target.PassTo(clock_ms);
  target.engine.set_expiry(Expiry::kIgnore);
  for (const std::string& line : effects) {
    std::vector<std::string_view> args;
    for (std::string_view rest = line; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      args.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const CommandEntry* entry = target.commands.Resolve(args);
    INFO(line);
    REQUIRE(entry != nullptr);
    target.self->output.Clear();
    target.dispatcher.Replay(*target.self, *entry, args);
    REQUIRE(target.self->output.Copy(0, 1) != "-");
  }
  target.self->output.Clear();
  target.engine.set_expiry(Expiry::kRemove);
  target.Effects();
}

}  // namespace tally::server
