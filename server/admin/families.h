// All families of commands: those on values (server/commands/) and those that only a server has.
#pragma once

#include <span>

#include "server/command/command.h"

namespace tally::server {

// Returns the families in the order in which COMMAND lists them. If `scripting` is false, the
// commands that run scripts are left out.
std::span<const CommandFamily> CommandFamilies(bool scripting = true);

// Each function is defined at the end of its family's file.
std::span<const Command> ConnectionCommands();
std::span<const Command> ClientCommands();
std::span<const Command> DatabaseCommands();
std::span<const Command> ServerAdminCommands();
std::span<const Command> StandaloneCommands();
std::span<const Command> ClusterCommands();
std::span<const Command> ClusterClientCommands();
std::span<const Command> ReplicationCommands();
std::span<const Command> WaitCommands();
std::span<const Command> ConfigCommands();
std::span<const Command> IntrospectionCommands();
std::span<const Command> ObservationCommands();
std::span<const Command> HotKeyCommands();
std::span<const Command> MemoryCommands();
std::span<const Command> DebugCommands();
std::span<const Command> SerializationCommands();
std::span<const Command> ClusterSerializationCommands();
std::span<const Command> MigrationCommands();
std::span<const Command> AclCommands();
std::span<const Command> PubSubCommands();
std::span<const Command> TransactionCommands();
std::span<const Command> ScriptingCommands();

}  // namespace tally::server
