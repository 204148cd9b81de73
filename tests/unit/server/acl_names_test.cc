// Users with names and patterns of any bytes: written down, and read back.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"
#include "server/config/config_rewrite.h"
#include "server/config/config_text.h"

namespace tally::server::acl_names_test {
namespace {

using Lines = std::vector<std::string>;

std::string SomeText(test::SeededRandom& random) {
  constexpr std::string_view kBytes = "ab\"'\\()#~%&+- \t\n\0\x01\xff*|";
  std::string text;
  const size_t size = random.Below(5);
  while (text.size() < size) text += kBytes[random.Below(kBytes.size())];
  return text;
}

std::string SomeRule(test::SeededRandom& random) {
  constexpr const char* kBefore[] = {"~",  "%R~",  "%W~", "&",       "+select|",
                                     "(~", "(%R~", "(&",  "(+get ~", "%RW~*"};
  std::string rule = kBefore[random.Below(std::size(kBefore))] + SomeText(random);
  if (!rule.starts_with('(')) return rule;
  if (random.OneIn(2)) rule = StrCat("(\"", rule.substr(1), "\"");
  return rule + (random.OneIn(2) ? " -@all)" : ")");
}

// What the configuration says after CONFIG REWRITE.
Lines Reread(const Lines& lines) {
  Config config;
  config.users = lines;
  const std::string text = RewriteConfigText("# mine\nuser old on\nuser \"\" off\n", config);
  Config read;
  const ReadFile none = [](const std::string&) { return absl::NotFoundError("none"); };
  INFO(text);
  REQUIRE(ParseConfigText(text, "t", none, read).ok());
  return read.users;
}

void CheckReread(CommandHarness& h) {
  const std::string list = h.Run("ACL LIST");
  AclUsers& users = h.state.users;
  const Lines lines = users.ConfigLines();
  CommandHarness from_config;
  REQUIRE(from_config.state.users.SetFromConfig(Reread(lines)).empty());
  CHECK(from_config.Run("ACL LIST") == list);
  const std::string file = users.Text();
  CommandHarness from_file;
  REQUIRE(from_file.state.users.Load(file, "f").empty());
  CHECK(from_file.Run("ACL LIST") == list);
}

}  // namespace

TEST_CASE("acl names: an empty one, and those that look like something else") {
  CommandHarness h;
  Client* other = h.Connect();
  for (const char* name : {"", "a\"b", "'", "\\", "(x)", "#", "on", "user", "~*", "\x01", "\xff"}) {
    INFO(name);
    CHECK(h.Run({"ACL", "SETUSER", name, "on", ">pw", "~x"}) == "+OK");
    CHECK(h.Run(*other, {"AUTH", name, "pw"}) == "+OK");
  }
  CHECK(h.Run("ACL SETUSER all %RW~* ~a") == "+OK");
  CHECK(h.Run({"ACL", "GETUSER", ""}).starts_with("[\"flags\" [\"on\"]"));
  CheckReread(h);
  CHECK(h.Run({"ACL", "DELUSER", ""}) == ":1");
  CheckReread(h);
}

TEST_CASE("acl names: white space and NUL are refused everywhere") {
  CommandHarness h;
  for (const char space : std::string_view(" \t\r\n\v\f\0", 7)) {
    const std::string name = StrCat("a", std::string(1, space), "b");
    CHECK(h.Run({"ACL", "SETUSER", name}) ==
          "-ERR Usernames can't contain spaces or null characters");
  }
  CHECK(h.state.users.Load("user a\tb on\n", "f").find("contains invalid characters") !=
        std::string::npos);
  CHECK(h.state.users.Load("user\n", "f").find("should start with user") != std::string::npos);
  // Two blanks have an empty name between them, as in redis-server.
  CHECK(h.state.users.Load("user  on\n", "f").empty());
  CHECK(h.Run("ACL USERS") == "[\"\" \"default\"]");
}

TEST_CASE("acl names: a rule of one word ends at a NUL, as in Redis") {
  using namespace std::string_literals;
  CommandHarness h;
  for (const std::string& rule :
       {"~*\0ab"s, "ALLCHANNELS\0"s, "on\0x"s, "nopass\0x"s, "+@all\0x"s}) {
    INFO(rule);
    CHECK(h.Run({"ACL", "SETUSER", "u", rule}) == "+OK");
  }
  CHECK(h.Run("ACL DRYRUN u SET k v") == "+OK");
}

TEST_CASE("acl names: any users come back from the configuration and from the file") {
  test::SeededRandom random;
  size_t made = 0;
  for (int round = 0; round < 300; ++round) {
    CommandHarness h;
    INFO("seed " << random.seed() << ", round " << round);
    for (int i = 0; i < 5; ++i) {
      Lines words = {"ACL", "SETUSER", SomeText(random)};
      for (size_t rules = random.Below(4); rules > 0; --rules) words.push_back(SomeRule(random));
      made += h.Run(words) == "+OK" ? 1 : 0;
    }
    CheckReread(h);
  }
  CHECK(made > 200);
}

}  // namespace tally::server::acl_names_test
