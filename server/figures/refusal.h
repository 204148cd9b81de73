// Whether the server refuses commands at present.
#pragma once

#include <string>

#include "server/figures/server_figures.h"

namespace tally::server {

// The error that a command which writes gets at present, whoever sends it; empty if it is run.
std::string Refusal(const ServerFigures& server);

}  // namespace tally::server
