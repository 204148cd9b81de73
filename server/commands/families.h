// All families of commands, in the order in which the README lists them.
#pragma once

#include <span>

#include "server/command/command.h"

namespace tally::server {

// Without `scripting` the commands that run scripts are unknown.
std::span<const CommandFamily> CommandFamilies(bool scripting = true);

// Each is defined at the end of its family's file.
std::span<const Command> ConnectionCommands();
std::span<const Command> ClientCommands();
std::span<const Command> DatabaseCommands();
std::span<const Command> ServerAdminCommands();
std::span<const Command> ConfigCommands();
std::span<const Command> IntrospectionCommands();
std::span<const Command> ObservationCommands();
std::span<const Command> MemoryCommands();
std::span<const Command> AclCommands();
std::span<const Command> DebugCommands();
std::span<const Command> KeyCommands();
std::span<const Command> ScanCommands();
std::span<const Command> ExpiryCommands();
std::span<const Command> SortCommands();
std::span<const Command> StringCommands();
std::span<const Command> CounterCommands();
std::span<const Command> BitmapCommands();
std::span<const Command> HyperLogLogCommands();
std::span<const Command> ListCommands();
std::span<const Command> ListPopCommands();
std::span<const Command> HashCommands();
std::span<const Command> SetCommands();
std::span<const Command> SetAlgebraCommands();
std::span<const Command> ZSetCommands();
std::span<const Command> ZSetRangeCommands();
std::span<const Command> ZSetAlgebraCommands();
std::span<const Command> HitsCommands();
std::span<const Command> LimitCommands();
std::span<const Command> PolicyCommands();
std::span<const Command> ActiveCommands();
std::span<const Command> QuotaCommands();
std::span<const Command> PubSubCommands();
std::span<const Command> TransactionCommands();
std::span<const Command> ScriptingCommands();

}  // namespace tally::server
