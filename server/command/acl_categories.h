// The categories of commands that ACL rules and COMMAND LIST name, derived from a command's family
// and flags.
#pragma once

#include <string_view>
#include <vector>

#include "server/command/command_table.h"

namespace tally::server {

// Without the "@", in ACL CAT's order.
std::vector<std::string_view> CategoriesOf(const CommandTable::Item& item);
// In any case.
bool HasCategory(const CommandTable::Item& item, std::string_view category);
// All that a command of the table has, and those of Redis that none has.
std::vector<std::string_view> AllCategories(const CommandTable& table);

}  // namespace tally::server
