// Commands as COMMAND shows them to clients.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/command/command_table.h"
#include "server/resp/reply.h"

namespace tally::server {

// An entry of COMMAND and COMMAND INFO.
void ReplyCommandInfo(ReplyBuilder& reply, const CommandTable& table,
                      const CommandTable::Item& item);
// A name and a map of COMMAND DOCS.
void ReplyCommandDocs(ReplyBuilder& reply, const CommandTable& table,
                      const CommandTable::Item& item);
// What a command does with a key (KeyFlags): a set of RO, RW, access, update …
void ReplyKeyFlags(ReplyBuilder& reply, uint16_t use);

}  // namespace tally::server
