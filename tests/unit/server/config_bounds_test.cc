// Every directive takes the values at both ends of its bounds, whichever way it is set, and refuses
// the ones beyond with the bounds in the message. What it takes, all commands bear.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/time/duration.h"
#include "server/config/config_text.h"
#include "server/config/directive.h"
#include "server/config/value_text.h"
#include "tests/unit/server/command_harness.h"
#include "write_corpus.h"

namespace tally::server::config_bounds_test {
namespace {

struct Values {
  std::vector<std::string> taken;
  std::vector<std::string> refused;
  std::string reason;  // a part of the message for those refused
};

std::string Octal(int64_t value) { return value < 0 ? "-1" : FormatOctal(value); }

template <typename Format>
Values Ends(int64_t min, int64_t max, Format format) {
  Values values{{format(min), format(max)},
                {min == INT64_MIN ? "-9223372036854775809" : format(min - 1),
                 max == INT64_MAX ? "9223372036854775808" : format(max + 1),
                 "-99999999999999999999999999", "99999999999999999999999999"},
                StrCat("argument must be between ", format(min), " and ", format(max))};
  return values;
}

Values Plain(int64_t min, int64_t max) {
  return Ends(min, max, [](int64_t value) { return std::to_string(value); });
}

struct ValuesOf {
  const Directive& directive;

  Values operator()(const BoolField&) const { return {{"yes", "no"}, {"maybe"}, "'yes' or 'no'"}; }
  Values operator()(const IntField& field) const { return Plain(field.min, field.max); }
  Values operator()(const MemoryField& field) const { return Plain(field.min, field.max); }
  Values operator()(const OctalField& field) const {
    Values values = Ends(field.min, field.max, Octal);
    for (std::string& text : values.refused) std::replace(text.begin(), text.end(), '9', '7');
    return values;
  }
  Values operator()(const DurationField& field) const {
    Values values = Ends(field.min, field.max, [](int64_t ms) { return StrCat(ms, "ms"); });
    values.reason =
        StrCat("30d, between ", FormatDuration(field.min), " and ", FormatDuration(field.max));
    for (std::string& text : values.refused) {
      if (!text.ends_with("ms")) text += "ms";
    }
    return values;
  }
  Values operator()(const StringField&) const { return {}; }
  Values operator()(const ListField&) const { return {}; }
  Values operator()(const EnumField& field) const {
    Values values{{}, {"no-such-name"}, "must be one of the following"};
    for (const EnumOption& option : field.options) values.taken.emplace_back(option.name);
    return values;
  }
  Values operator()(const CustomField&) const {
    const std::string most = "9223372036854775807";
    const std::string more = "9223372036854775808";
    if (directive.name == "save") {
      return {{"1 0", StrCat(most, " ", most)},
              {"0 1", "1 -1", StrCat(more, " 1"), StrCat("1 ", more)},
              "argument must be between"};
    }
    if (directive.name == "client-output-buffer-limit") {
      return {{"normal 0 0 0", StrCat("pubsub ", most, " ", most, " ", most)},
              {"normal -1 0 0", "normal 0 -1 0", "normal 0 0 -1", StrCat("normal ", more, " 0 0"),
               StrCat("normal 0 0 ", more)},
              "argument must be between 0 and"};
    }
    if (directive.name == "maxmemory-clients") {
      return {{"0", most, "0%", "100%"}, {"-1", more, "-1%", "101%"}, "argument must be "};
    }
    if (directive.name == "notify-keyspace-events") return {{"", "KEA"}, {"?"}, "Invalid event"};
    if (directive.name == "replicaof") {
      return {{"127.0.0.1 1", "h 65535", "no one"}, {"h 0", "h 65536"}, "Invalid master port"};
    }
    FAIL("no values for " << directive.name);
    return {};
  }
  Values operator()(const AcceptedField& field) const {
    using Kind = AcceptedField::Kind;
    if (field.kind == Kind::kInt) return Plain(INT64_MIN, INT64_MAX);
    if (field.kind == Kind::kMemory) return Plain(0, INT64_MAX);
    return {};
  }
};

Values Of(const Directive& directive) { return std::visit(ValuesOf{directive}, directive.field); }

absl::StatusOr<std::string> NoIncludes(const std::string& path) {
  return absl::NotFoundError(path);
}

// What a file and the command line, with --check-config or without, make of the value.
std::string ErrorOfFile(const Directive& directive, const std::string& value, Config& config) {
  const bool plain = IsMultiWord(directive) && !value.empty();
  const std::string line = StrCat(directive.name, " ", plain ? value : QuoteWord(value), "\n");
  return std::string(ParseConfigText(line, "file", NoIncludes, config).message());
}

std::string ErrorOfCommandLine(const Directive& directive, const std::string& value,
                               Config& config) {
  const std::vector<DirectiveWords> given{{std::string(directive.name), value}};
  return std::string(ApplyDirectives(given, config).message());
}

std::string ConfigSet(CommandHarness& server, const Directive& directive,
                      const std::string& value) {
  return server.Run({"CONFIG", "SET", std::string(directive.name), value});
}

// Commands of all families; those that only look come after those that write.
void RunAllFamilies(CommandHarness& server) {
  for (const std::string& line : test::WriteLines()) {
    server.Run(test::LineOfPass(line, 1));
    server.Advance(1000);
  }
  for (const char* line : {"MGET s1 n1 f1",
                           "OBJECT ENCODING h1",
                           "OBJECT FREQ t1",
                           "OBJECT IDLETIME z1",
                           "OBJECT ENCODING l2",
                           "LRANGE l1 0 -1",
                           "HGETALL h1",
                           "SMEMBERS t1",
                           "ZRANGE z1 0 -1",
                           "SORT t1 ALPHA",
                           "SCAN 0",
                           "PFCOUNT pf1 pf21",
                           "BITCOUNT bits1",
                           "HITS.COUNT hits1",
                           "LIMIT.PEEK limit1",
                           "LIMIT.SHOW limit1",
                           "ACTIVE.COUNT page1",
                           "QUOTA.SHOW book1 1",
                           "QUOTA.STATS book1",
                           "POLICY.LIST",
                           "DENIALS",
                           "INFO everything",
                           "CONFIG GET *",
                           "MEMORY USAGE h1",
                           "MEMORY STATS",
                           "CLIENT LIST",
                           "SLOWLOG GET -1",
                           "LATENCY LATEST",
                           "ACL LOG",
                           "ACL LIST",
                           "COMMAND COUNT",
                           "PUBLISH c m",
                           "MULTI",
                           "INCR n1",
                           "EXEC",
                           "DEBUG SLEEP 0",
                           "HOTKEYS",
                           "WAIT 0 0",
                           "SAVE",
                           "DBSIZE"}) {
    server.Run(line);
    // A book or a window of its own.
    server.Advance(24 * 3600 * 1000);
  }
  server.state.evictor.MakeRoom(server.state.services);
  server.ExpireDue();
}

}  // namespace

TEST_CASE("config: both ends of each directive's bounds are taken, and nothing beyond",
          "[bounds]") {
  for (const Directive& directive : Directives()) {
    INFO(directive.name);
    const Values values = Of(directive);
    CommandHarness server;
    for (const std::string& value : values.taken) {
      INFO(value);
      Config config;
      CHECK(ErrorOfFile(directive, value, config) == "");
      CHECK(ErrorOfCommandLine(directive, value, config) == "");
      if (!directive.Is(kImmutable)) CHECK(ConfigSet(server, directive, value) == "+OK");
    }
    const std::string before = FormatValue(directive, server.config);
    for (const std::string& value : values.refused) {
      INFO(value);
      Config config;
      CHECK(ErrorOfFile(directive, value, config).find(values.reason) != std::string::npos);
      CHECK(ErrorOfCommandLine(directive, value, config).find(values.reason) != std::string::npos);
      CHECK(FormatValue(directive, config) == FormatValue(directive, Config()));
      if (directive.Is(kImmutable)) continue;
      CHECK(ConfigSet(server, directive, value).find(values.reason) != std::string::npos);
      CHECK(FormatValue(directive, server.config) == before);
    }
  }
}

TEST_CASE("config: all commands bear what each directive takes", "[bounds]") {
  for (const Directive& directive : Directives()) {
    if (std::holds_alternative<AcceptedField>(directive.field)) continue;
    for (const std::string& value : Of(directive).taken) {
      INFO(directive.name << " " << value);
      Config config;
      REQUIRE(ErrorOfFile(directive, value, config) == "");
      CommandHarness started(config);
      RunAllFamilies(started);
      CHECK(started.Run("PING") == "+PONG");
      if (directive.Is(kImmutable)) continue;
      // Set while there is data.
      CommandHarness changed;
      RunAllFamilies(changed);
      REQUIRE(ConfigSet(changed, directive, value) == "+OK");
      RunAllFamilies(changed);
      CHECK(changed.Run("PING") == "+PONG");
    }
  }
}

}  // namespace tally::server::config_bounds_test
