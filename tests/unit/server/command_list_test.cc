// The table of commands in server/commands/README.md is made from the rows: when it is stale this
// test fails, and with UPDATE_COMMANDS=1 in the environment it writes the table instead.
#include <absl/strings/ascii.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/command/command_table.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

constexpr char kPath[] = TALLY_SOURCE_DIR "/server/commands/README.md";
constexpr std::string_view kBegin = "<!-- commands:begin -->\n";
constexpr std::string_view kEnd = "<!-- commands:end -->\n";

std::string ReadFile(const char* path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// "client|id" is CLIENT ID; a container is no command of its own.
std::string RowsOf(const CommandTable& table, std::string_view group) {
  std::vector<std::string> rows;
  for (const CommandTable::Item& item : table.items()) {
    if (item.family->group != group || item.command->handler == nullptr) continue;
    const std::string name =
        absl::AsciiStrToUpper(absl::StrReplaceAll(item.full_name, {{"|", " "}}));
    rows.push_back(StrCat("| ", name, " | ", item.command->summary, " |\n"));
  }
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (const std::string& row : rows) text += row;
  return text;
}

std::string TableText() {
  const CommandTable table{CommandFamilies()};
  std::vector<std::string_view> groups;
  for (const CommandFamily& family : table.families()) {
    const bool known = std::find(groups.begin(), groups.end(), family.group) != groups.end();
    if (!known) groups.push_back(family.group);
  }
  std::string text;
  for (const std::string_view group : groups) {
    StrAppend(text, "\n| ", group, " | |\n|---|---|\n", RowsOf(table, group));
  }
  return text + '\n';
}

}  // namespace

TEST_CASE("The table of commands is that of the rows", "[commands]") {
  const std::string page = ReadFile(kPath);
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const size_t table = begin + kBegin.size();
  const std::string wanted = TableText();
  if (std::getenv("UPDATE_COMMANDS") != nullptr) {
    std::ofstream(kPath) << page.substr(0, table) << wanted << page.substr(end);
    return;
  }
  INFO("stale: run server_tests '[commands]' with UPDATE_COMMANDS=1 in the environment");
  const bool fresh = page.substr(table, end - table) == wanted;
  CHECK(fresh);
}

}  // namespace tally::server
