// The table of commands in server/commands/README.md, and the line of syntax of each command in the
// native families' pages beside it, are made from the rows: when one is stale this test fails, and
// with UPDATE_COMMANDS=1 in the environment it writes it instead.
#include <absl/strings/ascii.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/admin/families.h"
#include "server/command/command_table.h"
#include "server/command/usage.h"

namespace tally::server::command_list_test {
namespace {

constexpr char kPath[] = TALLY_SOURCE_DIR "/server/commands/README.md";
// Each native command has a heading of its own in one of them.
constexpr const char* kPages[] = {"hits.md",   "limit.md", "reservations.md",
                                  "active.md", "quota.md", "denials.md"};
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
  for (const CommandEntry& entry : table.entries()) {
    if (entry.family->group != group || entry.command->handler == nullptr) continue;
    const std::string name =
        absl::AsciiStrToUpper(absl::StrReplaceAll(entry.full_name, {{"|", " "}}));
    rows.push_back(StrCat("| ", name, " | ", entry.command->summary, " |\n"));
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

bool HasPage(const CommandEntry& entry) {
  return entry.family->native && entry.parent == nullptr && entry.command->subcommands.empty();
}

// The page with the syntax of `entry` under its heading; empty if the page lacks the heading.
std::string WithSyntax(const std::string& page, const CommandEntry& entry) {
  const std::string heading = StrCat("\n## ", absl::AsciiStrToUpper(entry.full_name), "\n\n    ");
  const size_t found = page.find(heading);
  if (found == std::string::npos) return {};
  const size_t begin = found + heading.size();
  return page.substr(0, begin) + UsageOf(entry) + page.substr(page.find('\n', begin));
}

}  // namespace

TEST_CASE("Each native command has its syntax in a page of its family", "[commands]") {
  const CommandTable table{CommandFamilies()};
  std::map<std::string, std::string> pages;
  for (const char* name : kPages) {
    const std::string path = StrCat(TALLY_SOURCE_DIR "/server/commands/", name);
    pages[path] = ReadFile(path.c_str());
  }
  for (const CommandEntry& entry : table.entries()) {
    if (!HasPage(entry)) continue;
    INFO(entry.full_name);
    int described = 0;
    for (auto& [path, page] : pages) {
      const std::string wanted = WithSyntax(page, entry);
      if (wanted.empty()) continue;
      ++described;
      const bool fresh = wanted == page;
      if (std::getenv("UPDATE_COMMANDS") == nullptr) CHECK(fresh);
      page = wanted;
    }
    CHECK(described == 1);
  }
  if (std::getenv("UPDATE_COMMANDS") == nullptr) return;
  for (const auto& [path, page] : pages) std::ofstream(path) << page;
}

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

}  // namespace tally::server::command_list_test
