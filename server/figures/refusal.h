// Whether the server refuses commands at present.
#pragma once

#include <string>

#include "server/interfaces/services.h"

namespace tally::server {

// The error that a command which writes gets at present, whoever sends it; empty if it is run.
std::string Refusal(const Services& server);

}  // namespace tally::server
