// The categories of commands that ACL rules and COMMAND LIST name, derived from a command's family
// and flags.
#pragma once

#include <string_view>
#include <vector>

#include "server/command/command_table.h"

namespace tally::server {

// Returns the categories of an entry without the "@", in the order of ACL CAT.
std::vector<std::string_view> CategoriesOf(const CommandEntry& entry);
// The name of the category may be in any case.
bool HasCategory(const CommandEntry& entry, std::string_view category);
// Returns all categories of Redis, also those that no command has, and after them the other
// categories of the table's families.
std::vector<std::string_view> AllCategories(const CommandTable& table);

}  // namespace tally::server
