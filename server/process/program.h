// What the program does: it reads the command line, prepares the process for the server, and cleans
// up after it.
#pragma once

#include <string>
#include <vector>

namespace tally::server {

// `arguments` are those after the program's name. Returns the exit code; what went wrong is on
// stderr or in the log.
int RunProgram(const std::vector<std::string>& arguments);

}  // namespace tally::server
