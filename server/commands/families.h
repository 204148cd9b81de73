// The families of commands on values, which every host has.
#pragma once

#include <span>

#include "server/command/command.h"

namespace tally::server {

// In the order in which the list of commands shows them.
std::span<const CommandFamily> ValueFamilies();
// tallyd's own families without DENIALS, for hosts that have Redis's commands already.
std::span<const CommandFamily> NativeFamilies();

// Each function is defined at the end of the file of its family.
std::span<const Command> KeyCommands();
std::span<const Command> ScanCommands();
std::span<const Command> ExpiryCommands();
std::span<const Command> SortCommands();
std::span<const Command> StringCommands();
std::span<const Command> LcsCommands();
std::span<const Command> CounterCommands();
std::span<const Command> BitmapCommands();
std::span<const Command> BitFieldCommands();
std::span<const Command> HyperLogLogCommands();
std::span<const Command> ListCommands();
std::span<const Command> ListPopCommands();
std::span<const Command> HashCommands();
std::span<const Command> SetCommands();
std::span<const Command> SetAlgebraCommands();
std::span<const Command> ZSetCommands();
std::span<const Command> ZSetPopCommands();
std::span<const Command> ZSetRangeCommands();
std::span<const Command> ZSetAlgebraCommands();
std::span<const Command> HitsCommands();
std::span<const Command> LimitCommands();
std::span<const Command> ReservationCommands();
std::span<const Command> PolicyCommands();
std::span<const Command> DenialCommands();
std::span<const Command> ActiveCommands();
std::span<const Command> QuotaCommands();

}  // namespace tally::server
