#include "server/command/command_table.h"

#include <catch2/catch.hpp>

#include "server/admin/families.h"
#include "server/config/renamed_commands.h"

namespace tally::server::command_table_test {
namespace {

std::string NameOf(const CommandEntry* entry) { return entry == nullptr ? "" : entry->full_name; }

TEST_CASE("command table: clients know a renamed command by its new name only") {
  CommandTable table(CommandFamilies());
  REQUIRE(table.Rename("GET", "Fetch").ok());
  CHECK(NameOf(table.Find("get")).empty());
  CHECK(NameOf(table.Find("FETCH")) == "get");
  CHECK(NameOf(table.FindFullName("get")) == "get");
  CHECK(NameOf(table.FindFullName("fetch")).empty());
  // A name that is free can be given to another command, and a new name can be changed again.
  REQUIRE(table.Rename("INCR", "GET").ok());
  REQUIRE(table.Rename("fetch", std::string(300, 'x')).ok());
  CHECK(NameOf(table.Find("get")) == "incr");
  CHECK(NameOf(table.Find("fetch")).empty());
  CHECK(NameOf(table.Find(std::string(300, 'X'))) == "get");
  REQUIRE(table.Rename("CONFIG", "settings").ok());
  CHECK(NameOf(table.FindCallable("settings|GET")) == "config|get");
  CHECK(NameOf(table.FindCallable("config|get")).empty());
  CHECK(table.FindFullName("config|get")->callable);
}

TEST_CASE("command table: a command without a name cannot be called, nor can its subcommands") {
  CommandTable table(CommandFamilies());
  REQUIRE(table.Rename("config", "").ok());
  CHECK(NameOf(table.Find("config")).empty());
  CHECK(NameOf(table.Find("")).empty());
  CHECK(NameOf(table.FindFullName("config")) == "config");
  CHECK_FALSE(table.FindFullName("config")->callable);
  CHECK_FALSE(table.FindFullName("config|rewrite")->callable);
  CHECK(table.FindFullName("debug")->callable);
}

TEST_CASE("command table: a rename that is wrong changes nothing") {
  CommandTable table(CommandFamilies());
  CHECK_FALSE(table.Rename("nosuch", "x").ok());
  CHECK_FALSE(table.Rename("config|get", "x").ok());
  CHECK_FALSE(table.Rename("get", "SET").ok());
  CHECK_FALSE(table.Rename("get", "get").ok());
  REQUIRE(table.Rename("set", "x").ok());
  CHECK_FALSE(table.Rename("get", "X").ok());
  CHECK(NameOf(table.Find("get")) == "get");
  CHECK(NameOf(table.Find("x")) == "set");
  Config config;
  config.renamed_commands = {"get"};
  CHECK(RenameCommands(config, table).message() ==
        "rename-command get: it takes a command and a name");
}

}  // namespace
}  // namespace tally::server::command_table_test
