// The texts of the stream's scripts, and their names.
#pragma once

#include <string>
#include <string_view>

#include "tests/differential/random.h"

namespace tally::differential {

// Takes whatever keys and arguments it gets.
std::string_view SomeScript(Random& random);
// Runs the command that is its arguments.
std::string_view CallingScript(Random& random);

std::string NameOfScript(std::string_view text);

}  // namespace tally::differential
