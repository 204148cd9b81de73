// Functions for the directive table: they format and assign settings whose value has a form of its
// own.
#pragma once

#include "server/config/directive.h"

namespace tally::server {

// `save`: pairs of seconds and changes.
std::string FormatSave(const Config& config);
absl::Status AssignSave(ConfigWords words, Config& config);

// `client-output-buffer-limit`: class, hard, soft and seconds, for one class or several.
std::string FormatOutputBufferLimit(const Config& config);
absl::Status AssignOutputBufferLimit(ConfigWords words, Config& config);

// `maxmemory-clients`: a memory size, or a percentage of maxmemory.
std::string FormatMaxmemoryClients(const Config& config);
absl::Status AssignMaxmemoryClients(ConfigWords words, Config& config);

// `notify-keyspace-events`: letters of event classes.
std::string FormatKeyspaceEvents(const Config& config);
absl::Status AssignKeyspaceEvents(ConfigWords words, Config& config);

}  // namespace tally::server
