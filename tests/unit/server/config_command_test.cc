#include "server/config/config_command.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tally::server::config_command_test {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Views = std::vector<std::string_view>;

Pairs Get(const Config& config, const Views& patterns) { return ConfigGet(config, patterns); }

std::string SetError(const Views& pairs) {
  return std::string(ConfigSet(Config{}, pairs).status().message());
}

TEST_CASE("CONFIG GET: names, patterns and aliases, each once") {
  const Config config;
  CHECK(Get(config, {"save", "appendonly"}) == Pairs{{"save", ""}, {"appendonly", "yes"}});
  CHECK(Get(config, {"HZ", "nosuch"}) == Pairs{{"HZ", "10"}});
  CHECK(Get(config, {"set-max-*", "*intset*"}) == Pairs{{"set-max-intset-entries", "512"}});
  CHECK(Get(config, {"hash-max-*-value"}) ==
        Pairs{{"hash-max-listpack-value", "64"}, {"hash-max-ziplist-value", "64"}});
  CHECK(Get(config, {"bind"}) == Pairs{{"bind", "127.0.0.1 -::1"}});
  CHECK(Get(config, {"client-output-buffer-limit"}) ==
        Pairs{{"client-output-buffer-limit",
               "normal 1073741824 268435456 60 slave 268435456 67108864 60 pubsub 33554432 "
               "8388608 60"}});
  CHECK(Get(config, {"quota-retention"}) == Pairs{{"quota-retention", "30d"}});
  CHECK(Get(config, {"maxmemory-policy"}) == Pairs{{"maxmemory-policy", "noeviction"}});
}

TEST_CASE("CONFIG GET: `user` shows only by its name") {
  Config config;
  config.users = {"a on"};
  for (const auto& [name, value] : Get(config, {"*"})) CHECK(name != "user");
  CHECK(Get(config, {"user"}).size() == 1);
}

TEST_CASE("CONFIG SET: several pairs, of which all or none hold") {
  const auto change =
      ConfigSet(Config{}, Views{"maxmemory", "1mb", "SAVE", "900 1 300 10",
                                "client-output-buffer-"
                                "limit",
                                "normal 1mb 1kb 10", "notify-keyspace-events", "KEA"});
  REQUIRE(change.ok());
  CHECK(change->config.maxmemory == kMib);
  CHECK(change->config.save == std::vector<SaveRule>{{900, 1}, {300, 10}});
  CHECK(change->config.client_output_buffer_limit[0] == OutputBufferLimit{kMib, kKib, 10});
  REQUIRE(change->touched.size() == 4);
  CHECK(change->touched[1]->name == "save");
  CHECK(Get(change->config, {"notify-keyspace-events"}) ==
        Pairs{{"notify-keyspace-events", "AKE"}});

  const auto replaced = ConfigSet(change->config, Views{"save", "60 1"});
  REQUIRE(replaced.ok());
  CHECK(replaced->config.save == std::vector<SaveRule>{{60, 1}});
  CHECK(ConfigSet(change->config, Views{"save", ""})->config.save == std::vector<SaveRule>{});
}

// The texts were taken from redis-server 7.0.15.
TEST_CASE("CONFIG SET: error texts") {
  const std::string failed = "CONFIG SET failed (possibly related to argument '";
  CHECK(SetError({"hz", "20", "foo", "1"}) ==
        "Unknown option or number of arguments for CONFIG SET - 'foo'");
  CHECK(SetError({"databases", "3"}) == failed + "databases') - can't set immutable config");
  CHECK(SetError({"hz", "1", "HZ", "2"}) == failed + "HZ') - duplicate parameter");
  CHECK(SetError({"appendonly", "maybe"}) ==
        failed + "appendonly') - argument must be 'yes' or 'no'");
  CHECK(SetError({"appendfsync", "x"}) ==
        failed + "appendfsync') - argument(s) must be one of the following: everysec, always, no");
  CHECK(ConfigSet(Config{}, Views{"client-query-buffer-limit", "8gb"}).ok());
  CHECK(SetError({"client-query-buffer-limit", "8589934593"}) ==
        failed +
            "client-query-buffer-limit') - argument must be between 1048576 and 8589934592 "
            "inclusive");
  CHECK(SetError({"proto-max-bulk-len", "1k"}) ==
        failed +
            "proto-max-bulk-len') - argument must be between 1048576 and 536870912 "
            "inclusive");
  CHECK(SetError({"maxmemory", "1x"}) == failed + "maxmemory') - argument must be a memory value");
  CHECK(SetError({"timeout", "1.5"}) ==
        failed + "timeout') - argument couldn't be parsed into an integer");
  CHECK(SetError({"maxmemory-clients", "101%"}) ==
        failed + "maxmemory-clients') - percentage argument must be less or equal to 100");
  CHECK(SetError({"notify-keyspace-events", "Q"}) ==
        failed +
            "notify-keyspace-events') - Invalid event class character. Use "
            "'Ag$lshzxeKEtmdn'.");
  CHECK(SetError({"save", "1"}) == failed + "save') - Invalid save parameters");
}

TEST_CASE("directives: each default formats to a text that assigns back to itself") {
  for (const Directive& directive : Directives()) {
    INFO(directive.name);
    CHECK(FindDirective(directive.name) == &directive);
    if (!directive.alias.empty()) CHECK(FindDirective(directive.alias) == &directive);
    const std::string value = FormatValue(directive, Config{});
    if (directive.Is(kImmutable)) continue;
    const auto change = ConfigSet(Config{}, Views{directive.name, value});
    REQUIRE(change.ok());
    CHECK(FormatValue(directive, change->config) == value);
  }
}

}  // namespace
}  // namespace tally::server::config_command_test
