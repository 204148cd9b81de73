#include "server/config/config_text.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"

namespace tally::server::config_text_test {
namespace {

absl::StatusOr<std::string> NoIncludes(const std::string& path) {
  return absl::NotFoundError("can't open '" + path + "'");
}

// The error of parsing `text`, or empty.
std::string ParseError(std::string_view text, Config& config) {
  return std::string(ParseConfigText(text, "tallyd.conf", NoIncludes, config).message());
}

std::string ParseError(std::string_view text) {
  Config config;
  return ParseError(text, config);
}

TEST_CASE("config text: every kind of value, comments and quotes") {
  Config config;
  REQUIRE(ParseError("# a comment\n"
                     "\n"
                     "  PORT 7000\r\n"
                     "bind 10.0.0.1 ::1\n"
                     "maxmemory 2gb\n"
                     "requirepass \"a b\\x41\"\n"
                     "appendfsync always\n"
                     "protected-mode no\n"
                     "unixsocketperm 700\n"
                     "quota-retention 36h\n"
                     "save 900 1\n"
                     "save 300 10 60 5\n"
                     "client-output-buffer-limit pubsub 1mb 512kb 30\n"
                     "notify-keyspace-events KEx\n"
                     "user alice on >secret ~*\n"
                     "user bob off\n"
                     "lua-time-limit 7",
                     config) == "");
  CHECK(config.port == 7000);
  CHECK(config.bind == std::vector<std::string>{"10.0.0.1", "::1"});
  CHECK(config.maxmemory == 2 * kGib);
  CHECK(config.requirepass == "a bA");
  CHECK(config.appendfsync == FsyncPolicy::kAlways);
  CHECK_FALSE(config.protected_mode);
  CHECK(config.unixsocketperm == 0700);
  CHECK(config.quota_retention_ms == 36 * 3600 * 1000);
  CHECK(config.save == std::vector<SaveRule>{{900, 1}, {300, 10}, {60, 5}});
  CHECK(config.client_output_buffer_limit[2] == OutputBufferLimit{kMib, kMib / 2, 30});
  CHECK(config.client_output_buffer_limit[0] == Config{}.client_output_buffer_limit[0]);
  CHECK(config.users == std::vector<std::string>{"alice on >secret ~*", "bob off"});
  CHECK(config.busy_reply_threshold == 7);
}

TEST_CASE("config text: memory units are redis.conf's") {
  const std::pair<const char*, int64_t> cases[] = {
      {"1000", 1000},  {"7b", 7},        {"1k", 1000},       {"1kb", 1024},
      {"1M", 1000000}, {"1MB", 1048576}, {"1g", 1000000000}, {"1Gb", 1073741824},
  };
  for (const auto& [text, bytes] : cases) {
    Config config;
    INFO(text);
    CHECK(ParseError(std::string("maxmemory ") + text, config) == "");
    CHECK(config.maxmemory == bytes);
  }
  for (const char* bad : {"1x", "", "k", "-", "1 b", "+1"}) {
    INFO(bad);
    CHECK(ParseError(std::string("maxmemory '") + bad + "'") ==
          "tallyd.conf:1: 'maxmemory' argument must be a memory value");
  }
}

TEST_CASE("config text: an error names file, line and reason") {
  CHECK(ParseError("port 1\n\nmaxclients 0") ==
        "tallyd.conf:3: 'maxclients' argument must be between 1 and 4294967295 inclusive");
  CHECK(ParseError("hz many") == "tallyd.conf:1: 'hz' argument couldn't be parsed into an integer");
  CHECK(ParseError("nosuch 1") == "tallyd.conf:1: unknown directive 'nosuch'");
  CHECK(ParseError("port") == "tallyd.conf:1: 'port' wrong number of arguments");
  CHECK(ParseError("port 1 2") == "tallyd.conf:1: 'port' wrong number of arguments");
  CHECK(ParseError("logfile \"x") == "tallyd.conf:1: unbalanced quotes");
  CHECK(ParseError("supervised maybe") ==
        "tallyd.conf:1: 'supervised' argument(s) must be one of the following: no, systemd, "
        "upstart, auto");
  CHECK(ParseError("appendfilename " + std::string(201, 'x')) ==
        "tallyd.conf:1: 'appendfilename' argument must be at most 200 bytes long");
  CHECK(ParseError("appendfilename ../x") ==
        "tallyd.conf:1: 'appendfilename' argument can't be a path, just a name");
  CHECK(ParseError("unixsocket /" + std::string(106, 'x')).empty());
  CHECK(ParseError("unixsocket /" + std::string(107, 'x')) ==
        "tallyd.conf:1: 'unixsocket' the path of a socket has at most 107 bytes");
  CHECK(ParseError("save 1") == "tallyd.conf:1: 'save' Invalid save parameters");
  CHECK(ParseError("unixsocketperm 1000") ==
        "tallyd.conf:1: 'unixsocketperm' argument must be between 0 and 777 inclusive");
  CHECK(ParseError("unixsocketperm 8") ==
        "tallyd.conf:1: 'unixsocketperm' argument couldn't be parsed as an octal number");
  CHECK(ParseError("quota-retention 5w") ==
        "tallyd.conf:1: 'quota-retention' argument must be a duration such as 500ms, 5s, 10m or "
        "30d, between 1ms and 253402300799999ms inclusive");
  CHECK(ParseError("include other.conf") == "tallyd.conf:1: can't open 'other.conf'");
}

TEST_CASE("config text: all that is wrong is told at once, and the rest holds") {
  Config config;
  CHECK(
      ParseError("port x\nhz 20\nnosuch 1\ninclude other.conf\nlogfile 'a\ndatabases 0", config) ==
      "tallyd.conf:1: 'port' argument couldn't be parsed into an integer\n"
      "tallyd.conf:3: unknown directive 'nosuch'\n"
      "tallyd.conf:4: can't open 'other.conf'\n"
      "tallyd.conf:5: unbalanced quotes\n"
      "tallyd.conf:6: 'databases' argument must be between 1 and 65536 inclusive");
  CHECK(config.hz == 20);
}

TEST_CASE("config text: what has no effect is named once, by reason, with its place") {
  Config config;
  std::vector<Ignored> ignored;
  REQUIRE(ParseConfigText("repl-diskless-sync no\nport 7\nloadmodule a.so\n"
                          "slave-lazy-flush yes\nloadmodule b.so\nrepl-diskless-sync yes\n",
                          "redis.conf", NoIncludes, config, &ignored)
              .ok());
  REQUIRE(ApplyDirectives({{"io-threads", "4"}}, config, &ignored).ok());
  CHECK(IgnoredWarnings(ignored) ==
        std::vector<std::string>{
            "Without effect here: repl-diskless-sync (redis.conf:1), replica-lazy-flush "
            "(redis.conf:4). The reason: replication has a form of its own.",
            "Without effect here: loadmodule (redis.conf:3). The reason: there are no modules.",
            "Without effect here: io-threads (command line). The reason: one thread serves all "
            "clients."});
  CHECK(IgnoredWarnings({}).empty());
}

TEST_CASE("config text: the values of what has no effect are checked and kept") {
  CHECK(ParseError("rdbcompression maybe") ==
        "tallyd.conf:1: 'rdbcompression' argument must be 'yes' or 'no'");
  CHECK(ParseError("repl-timeout soon") ==
        "tallyd.conf:1: 'repl-timeout' argument couldn't be parsed into an integer");
  CHECK(ParseError("repl-backlog-size 1x") ==
        "tallyd.conf:1: 'repl-backlog-size' argument must be a memory value");
  CHECK(ParseError("masterauth a b") == "tallyd.conf:1: 'masterauth' wrong number of arguments");
  CHECK(ParseError("slaveof 10.0.0.1") == "tallyd.conf:1: 'slaveof' wrong number of arguments");
  for (const char* port : {"0", "65536", "x", "-1"}) {
    CHECK(ParseError(StrCat("replicaof 10.0.0.1 ", port)) ==
          "tallyd.conf:1: 'replicaof' Invalid master port");
  }
  CHECK(ParseError("replicaof 10.0.0.1 6379") == "");
  CHECK(ParseError("cluster-enabled yes") ==
        "tallyd.conf:1: 'cluster-enabled' this server cannot be a node of a cluster: remove the "
        "line, or load tally.so into the cluster");
  CHECK(ParseError("oom-score-adj-values") ==
        "tallyd.conf:1: 'oom-score-adj-values' wrong number of arguments");
  Config config;
  CHECK(ParseError("RDBCompression NO\nrepl-backlog-size 1mb\noom-score-adj-values 1 2 3\n"
                   "slaveof 10.0.0.1 1\nslaveof No One\nlua-time-limit 7",
                   config) == "");
  const auto value = [&](std::string_view name) {
    return FormatValue(*FindDirective(name), config);
  };
  CHECK(value("rdbcompression") == "no");
  CHECK(value("repl-backlog-size") == "1048576");
  CHECK(value("oom-score-adj-values") == "1 2 3");
  CHECK(value("replicaof").empty());
  CHECK(value("repl-diskless-load") == "disabled");
}

TEST_CASE("config text: when snapshots are due, if save is not given") {
  Config config;
  CHECK(SaveRulesOf(config).empty());
  REQUIRE(ParseError("appendonly no", config) == "");
  CHECK(SaveRulesOf(config) == std::vector<SaveRule>{{3600, 1}, {300, 100}, {60, 10000}});
  REQUIRE(ParseError("save ''", config) == "");
  CHECK(SaveRulesOf(config).empty());
  REQUIRE(ParseError("appendonly yes\nsave 9 8", config) == "");
  CHECK(SaveRulesOf(config) == std::vector<SaveRule>{{9, 8}});
}

TEST_CASE("config text: includes apply in place, name themselves in errors, and end") {
  const ReadFile read = [](const std::string& path) -> absl::StatusOr<std::string> {
    if (path == "ports.conf") return "port 1\n";
    if (path == "bad.conf") return "# x\nport x\n";
    return "include loop.conf\n";
  };
  Config config;
  REQUIRE(ParseConfigText("port 9\ninclude ports.conf\n", "a.conf", read, config).ok());
  CHECK(config.port == 1);
  CHECK(std::string(ParseConfigText("include bad.conf", "a.conf", read, config).message()) ==
        "bad.conf:2: 'port' argument couldn't be parsed into an integer");
  CHECK(std::string(ParseConfigText("include loop.conf", "a.conf", read, config).message()) ==
        "loop.conf:1: files include each other too deeply");
}

TEST_CASE("command line: file, directives in order, actions") {
  const std::vector<std::string> arguments{"t.conf", "--port", "7", "--save", "--bind", "::1", "*"};
  const auto line = ParseCommandLine(arguments);
  REQUIRE(line.ok());
  CHECK(line->config_path == "t.conf");
  REQUIRE(line->directives.size() == 3);
  Config config;
  config.save.emplace().push_back({1, 1});
  REQUIRE(ApplyDirectives(line->directives, config).ok());
  CHECK(config.port == 7);
  CHECK(config.save == std::vector<SaveRule>{});
  CHECK(config.bind == std::vector<std::string>{"::1", "*"});

  using Action = CommandLine::Action;
  CHECK(ParseCommandLine(std::vector<std::string>{})->action == Action::kServe);
  CHECK(ParseCommandLine(std::vector<std::string>{"-h"})->action == Action::kHelp);
  CHECK(ParseCommandLine(std::vector<std::string>{"--export", "f", "--version", "10"})->action ==
        Action::kExport);
  CHECK_FALSE(ParseCommandLine(std::vector<std::string>{"--export", "f", "--version", "11"}).ok());
  CHECK(ParseCommandLine(std::vector<std::string>{"--version"})->action == Action::kVersion);
  CHECK(ParseCommandLine(std::vector<std::string>{"a", "--check-config"})->action ==
        Action::kCheckConfig);
}

TEST_CASE("command line: how data of Redis is taken over") {
  const std::vector<std::string> words = {"--skip-unknown",   "redis.conf", "--import", "some dir",
                                          "--drop-field-ttl", "--port",     "7777"};
  const auto line = ParseCommandLine(words);
  REQUIRE(line.ok());
  CHECK(line->action == CommandLine::Action::kImport);
  CHECK(line->import_path == "some dir");
  CHECK(line->config_path == "redis.conf");
  CHECK(line->skip_unknown);
  CHECK(line->drop_field_ttl);
  CHECK(line->directives == std::vector<DirectiveWords>{{"port", "7777"}});
  const std::vector<std::string> none = {"--import"};
  CHECK_FALSE(ParseCommandLine(none).ok());
}

TEST_CASE("command line: errors") {
  CHECK_FALSE(ParseCommandLine(std::vector<std::string>{"a.conf", "b.conf"}).ok());
  Config config;
  CHECK(std::string(ApplyDirectives({{"port", "70000"}}, config).message()) ==
        "command line: 'port' argument must be between 0 and 65535 inclusive");
  CHECK(std::string(ApplyDirectives({{"port"}}, config).message()) ==
        "command line: 'port' wrong number of arguments");
}

}  // namespace
}  // namespace tally::server::config_text_test
