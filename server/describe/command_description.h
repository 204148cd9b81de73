// Commands as COMMAND shows them to clients.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/command/command_table.h"
#include "server/resp/reply.h"

namespace tally::server {

// Replies the entry of a command in COMMAND and COMMAND INFO.
void ReplyCommandInfo(ReplyBuilder& reply, const CommandTable& table, const CommandEntry& entry);
// Replies the name and the map of a command in COMMAND DOCS.
void ReplyCommandDocs(ReplyBuilder& reply, const CommandTable& table, const CommandEntry& entry);
// Replies KeyFlags as a set of RO, RW, access, update …
void ReplyKeyFlags(ReplyBuilder& reply, uint16_t use);

}  // namespace tally::server
