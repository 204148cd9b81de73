#include <catch2/catch.hpp>
#include <set>

#include "server/command_harness.h"
#include "server/describe/acl_categories.h"

namespace tally::server::introspection_commands_test {
namespace {

using Names = std::vector<std::string_view>;

}  // namespace

TEST_CASE("command info: all that clients route and check by") {
  CommandHarness h;
  CHECK(h.Run("COMMAND INFO get") ==
        "[[\"get\" :2 [+readonly +fast] :1 :1 :1 [+@read +@string +@fast] [] "
        "[[\"flags\" [+RO +access] \"begin_search\" [\"type\" \"index\" \"spec\" [\"index\" :1]] "
        "\"find_keys\" [\"type\" \"range\" \"spec\" [\"lastkey\" :0 \"keystep\" :1 \"limit\" "
        ":0]]]] []]]");
  CHECK(h.Run("COMMAND INFO foo") == "[nil]");
  CHECK(h.Run("COMMAND INFO client|foo") == "[nil]");
  h.self->reply.set_protocol(3);
  CHECK(h.Run("command info DBSIZE") ==
        "[[\"dbsize\" :1 ~[+readonly +fast] :0 :0 :0 ~[+@keyspace +@read +@fast] ~[] ~[] ~[]]]");
  CHECK(h.Run("COMMAND INFO client|id") ==
        "[[\"client|id\" :2 ~[+noscript +loading +stale] :0 :0 :0 ~[+@slow +@connection] ~[] ~[] "
        "~[]]]");
  CHECK(h.Run("COMMAND INFO mset")
            .find(":1 :-1 :2 ~[+@write +@string +@slow] ~[] ~[{\"flags\" ~[+OW +update] "
                  "\"begin_search\" {\"type\" \"index\" \"spec\" {\"index\" :1}} \"find_keys\" "
                  "{\"type\" "
                  "\"range\" \"spec\" {\"lastkey\" :-1 \"keystep\" :2 \"limit\" :0}}}]") !=
        std::string::npos);
  const std::string object = h.Run("COMMAND INFO object");
  CHECK(object.find(
            "[[\"object\" :-2 ~[] :0 :0 :0 ~[+@slow] ~[] ~[] [[\"object|encoding\" :3 ~[") == 0);
  CHECK(object.find("{\"index\" :2}} \"find_keys\" {\"type\" \"range\" \"spec\" {\"lastkey\" :0") !=
        std::string::npos);
}

TEST_CASE("command: count, list and the whole agree") {
  CommandHarness h;
  size_t top_level = 0;
  for (const CommandEntry& entry : h.commands.entries()) top_level += entry.parent == nullptr;
  CHECK(h.Run("COMMAND COUNT") == StrCat(':', top_level));
  const std::string header = StrCat('*', top_level, "\r\n*10\r\n");
  CHECK(h.Wire(*h.self, {"COMMAND"}).rfind(header, 0) == 0);
  CHECK(h.Wire(*h.self, {"COMMAND", "INFO"}).rfind(header, 0) == 0);
  CHECK(h.Wire(*h.self, {"COMMAND", "LIST"})
            .rfind(StrCat('*', h.commands.entries().size(), "\r\n"), 0) == 0);
  CHECK(h.Run("COMMAND foo") == "-ERR unknown subcommand 'foo'. Try COMMAND HELP.");
}

TEST_CASE("command list: filters") {
  CommandHarness h;
  CHECK(h.Run("COMMAND LIST FILTERBY PATTERN GETS*") == "[\"getset\"]");
  CHECK(h.Run("COMMAND LIST FILTERBY PATTERN client|set*") ==
        "[\"client|setinfo\" \"client|setname\"]");
  CHECK(h.Run("COMMAND LIST FILTERBY MODULE x") == "[]");
  CHECK(h.Run("COMMAND LIST FILTERBY ACLCAT foo") == "[]");
  const std::string strings = h.Run("COMMAND LIST FILTERBY ACLCAT STRING");
  CHECK(strings.find("\"incr\"") != std::string::npos);
  CHECK(strings.find("\"del\"") == std::string::npos);
  CHECK(h.Run("COMMAND LIST FILTERBY foo x") == "-ERR syntax error");
  CHECK(h.Run("COMMAND LIST FILTERBY") == "-ERR syntax error");
  CHECK(h.Run("COMMAND LIST x") == "-ERR syntax error");
}

TEST_CASE("command docs: what redis-cli shows") {
  CommandHarness h;
  h.self->reply.set_protocol(3);
  CHECK(h.Run("COMMAND DOCS get foo") ==
        "{\"get\" {\"summary\" \"Returns the string value of a key.\" \"since\" \"1.0.0\" "
        "\"group\" \"string\" \"arguments\" [{\"name\" \"key\" \"type\" \"key\" "
        "\"key_spec_index\" :0}]}}");
  CHECK(h.Run("COMMAND DOCS client|id") ==
        "{\"client|id\" {\"summary\" \"Returns the unique client ID of the connection.\" \"since\" "
        "\"5.0.0\" \"group\" \"connection\"}}");
  CHECK(h.Run("COMMAND DOCS foo") == "{}");
  CHECK(h.Run("COMMAND DOCS config").find("\"subcommands\" {\"config|get\" {\"summary\" ") !=
        std::string::npos);
  CHECK(h.Wire(*h.self, {"COMMAND", "DOCS"})
            .rfind(StrCat('%', h.Run("COMMAND COUNT").substr(1), "\r\n"), 0) == 0);
}

TEST_CASE("command getkeys: finds keys without running anything") {
  CommandHarness h;
  CHECK(h.Run("COMMAND GETKEYS get a") == "[\"a\"]");
  CHECK(h.Run("COMMAND GETKEYS MSET a 1 b 2") == "[\"a\" \"b\"]");
  CHECK(h.Run("COMMAND GETKEYS object encoding a") == "[\"a\"]");
  CHECK(h.Run("COMMAND GETKEYSANDFLAGS del a b") ==
        "[[\"a\" [+RM +delete]] [\"b\" [+RM +delete]]]");
  std::string settled = "COMMAND GETKEYS LIMIT.CANCEL id";
  for (int i = 0; i < 64; ++i) settled += " k";
  CHECK(h.Run(settled).starts_with("[\"k\""));
  CHECK(h.Run(settled + " k") == "-ERR Invalid arguments specified for command");
  CHECK(h.Run("COMMAND GETKEYS foo a") == "-ERR Invalid command specified");
  CHECK(h.Run("COMMAND GETKEYS object x y") == "-ERR Invalid command specified");
  CHECK(h.Run("COMMAND GETKEYS get a b") ==
        "-ERR Invalid number of arguments specified for command");
  CHECK(h.Run("COMMAND GETKEYS ping a") == "-ERR The command has no key arguments");
  CHECK(h.Run("COMMAND GETKEYS client id") == "-ERR The command has no key arguments");
  CHECK(h.Run("COMMAND GETKEYS get") ==
        "-ERR wrong number of arguments for 'command|getkeys' command");
  CHECK(h.Run("DBSIZE") == ":0");
}

TEST_CASE("categories: from the family and the flags") {
  CommandHarness h;
  const auto of = [&](std::string_view name) {
    return CategoriesOf(*h.commands.FindFullName(name));
  };
  CHECK(of("incr") == Names{"write", "string", "fast"});
  CHECK(of("flushall") == Names{"keyspace", "write", "slow", "dangerous"});
  CHECK(of("del") == Names{"keyspace", "write", "slow"});
  CHECK(of("keys") == Names{"keyspace", "read", "slow", "dangerous"});
  CHECK(of("time") == Names{"fast"});
  CHECK(of("client") == Names{"slow"});
  CHECK(of("client|kill") == Names{"admin", "slow", "dangerous", "connection"});
  CHECK(of("config|set") == Names{"admin", "slow", "dangerous"});
  CHECK(of("lastsave") == Names{"admin", "fast", "dangerous"});
  CHECK(of("command") == Names{"slow", "connection"});
  CHECK(HasCategory(*h.commands.Find("GET"), "STRING"));
  CHECK_FALSE(HasCategory(*h.commands.Find("GET"), "write"));
}

TEST_CASE("rows: what is shown of a command is there and fits its handler") {
  CommandHarness h;
  const auto categories = AllCategories(h.commands);
  for (const CommandEntry& entry : h.commands.entries()) {
    const Command& command = *entry.command;
    INFO(entry.full_name);
    CHECK(command.arity != 0);
    CHECK_FALSE(command.summary.empty());
    CHECK_FALSE(command.since.empty());
    CHECK((command.handler != nullptr || !command.subcommands.empty()));
    CHECK_FALSE(((command.flags & kWrite) != 0 && (command.flags & kReadOnly) != 0));
    // Movable keys need their finder, and fixed ones a range that ends.
    CHECK(((command.flags & kMovableKeys) == 0 || command.find_keys != nullptr));
    CHECK((command.keys.first == 0 || command.keys.step > 0));
    for (const std::string_view category : CategoriesOf(entry)) {
      CHECK(std::find(categories.begin(), categories.end(), category) != categories.end());
    }
  }
}

}  // namespace tally::server::introspection_commands_test
