#include "core/limit/policy_table.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace tally::policy_table_test {
namespace {

using Words = StoredWords;

std::vector<std::string> NamesOf(const PolicyTable& table) {
  std::vector<std::string> names;
  table.ForEach([&](std::string_view name, const Words&) { names.emplace_back(name); });
  return names;
}

TEST_CASE("tables with the same policies have the same digest, and others another one") {
  PolicyTable one;
  PolicyTable two;
  const std::string none = one.DigestText();
  CHECK(none == "0000000000000000");
  one.Set("a", {"ALLOW"});
  one.Set("b", {"FIXED", "5", "1m"});
  two.Set("b", {"FIXED", "5", "1m"});
  two.Set("a", {"DENY"});
  CHECK(one.DigestText() != two.DigestText());
  two.Set("a", {"ALLOW"});
  CHECK(one.DigestText() == two.DigestText());
  CHECK(one.Erase("a"));
  CHECK(one.DigestText() != two.DigestText());
  one.Clear();
  CHECK(one.DigestText() == none);
}

TEST_CASE("policies are kept by name, in the order of names") {
  PolicyTable table;
  CHECK(table.Find("api") == nullptr);
  table.Set("web", {"FIXED", "1", "5s"});
  table.Set("api", {"DENY"});
  table.Set("web", {"ALLOW"});
  CHECK(NamesOf(table) == std::vector<std::string>{"api", "web"});
  REQUIRE(table.Find("web") != nullptr);
  CHECK(table.Find("web")->words() == Words{"ALLOW"});
  CHECK(table.Erase("web"));
  CHECK_FALSE(table.Erase("web"));
  CHECK(table.size() == 1);
  table.Clear();
  CHECK(table.size() == 0);
}

TEST_CASE("a saved policy is loaded as it was; a shorter one is refused") {
  const std::string name("name\0with a zero", 16);
  const Words words{"CALENDAR", "1000", "day", "TZ", "Asia/Shanghai"};
  std::string bytes;
  PolicyTable::Save(name, words, bytes);
  PolicyTable table;
  REQUIRE(table.Load(bytes));
  REQUIRE(table.Find(name) != nullptr);
  CHECK(table.Find(name)->words() == words);
  size_t refused = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    PolicyTable part;
    if (!part.Load(std::string_view(bytes).substr(0, length))) ++refused;
  }
  // What ends after a whole word is a policy of fewer words.
  CHECK(refused == bytes.size() - (words.size() - 1));
}

}  // namespace
}  // namespace tally::policy_table_test
