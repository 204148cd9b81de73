// conf/tallyd.conf must show every directive that has an effect, with its default, commented out.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "server/config/config_text.h"
#include "server/config/directive.h"

namespace tally::server::shipped_config_test {
namespace {

constexpr char kPath[] = TALLY_SOURCE_DIR "/conf/tallyd.conf";

absl::StatusOr<std::string> NoIncludes(const std::string& path) {
  return absl::NotFoundError(path);
}

// The lines `#name value` of the file, without the '#', by name; prose begins with "# ".
std::multimap<std::string, std::string> CommentedLines() {
  std::multimap<std::string, std::string> lines;
  std::ifstream file(kPath);
  for (std::string line; std::getline(file, line);) {
    if (line.size() < 2 || line[0] != '#' || line[1] == ' ' || line[1] == '#') continue;
    const std::string text = line.substr(1);
    lines.emplace(text.substr(0, text.find(' ')), text);
  }
  return lines;
}

TEST_CASE("conf/tallyd.conf: every directive once, with the default of the table") {
  const auto lines = CommentedLines();
  REQUIRE_FALSE(lines.empty());
  for (const Directive& directive : Directives()) {
    INFO(directive.name);
    const std::string name(directive.name);
    // What has no effect is for the files of others.
    if (!directive.no_effect.empty()) {
      CHECK(lines.count(name) == 0);
      continue;
    }
    REQUIRE(lines.count(name) == 1);
    Config config;
    // Lines of it add up, and an empty one clears: there must be something to clear.
    if (directive.name == "save") config.save.emplace().push_back({1, 1});
    REQUIRE(ParseConfigText(lines.find(name)->second, "line", NoIncludes, config).ok());
    CHECK(FormatValue(directive, config) == FormatValue(directive, Config{}));
  }
  for (const auto& [name, line] : lines) {
    INFO(line);
    CHECK(FindDirective(name) != nullptr);
  }
}

TEST_CASE("conf/tallyd.conf: as shipped it serves HTTP, and changes nothing else") {
  std::stringstream text;
  text << std::ifstream(kPath).rdbuf();
  Config config;
  REQUIRE(ParseConfigText(text.str(), kPath, NoIncludes, config).ok());
  CHECK(config.http_port == 8379);
  config.http_port = 0;
  for (const Directive& directive : Directives()) {
    CHECK(FormatValue(directive, config) == FormatValue(directive, Config{}));
  }
}

}  // namespace
}  // namespace tally::server::shipped_config_test
