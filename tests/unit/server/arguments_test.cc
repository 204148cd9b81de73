// The texts of arguments in the rows: how they are read, shown to clients, and that every row's
// fits what else the row says.
#include "server/command/arguments.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/command/usage.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server::arguments_test {
namespace {

std::string DocsOf(std::string_view text) {
  const auto arguments = ParseArguments(text);
  REQUIRE(arguments);
  ByteBlocks wire;
  ReplyBuilder reply(wire, 3);
  ReplyArguments(reply, *arguments);
  return ReplyText::Of(wire.Joined());
}

std::string UsageOfText(std::string_view text) {
  const auto arguments = ParseArguments(text);
  REQUIRE(arguments);
  return UsageOf(*arguments);
}

struct WordCounts {
  int least = 0;
  bool fixed = true;
};

WordCounts CountWords(const Arguments& arguments, bool one_of = false) {
  WordCounts all;
  bool first = true;
  for (const Argument& argument : arguments) {
    WordCounts words{1, true};
    if (!argument.arguments.empty()) {
      words = CountWords(argument.arguments, argument.type == ArgumentType::kOneOf);
    }
    if (argument.token && argument.type != ArgumentType::kPureToken) ++words.least;
    if (argument.multiple) words.fixed = false;
    if (argument.optional) words = {0, false};
    if (!one_of) {
      all.least += words.least;
      all.fixed &= words.fixed;
    } else {
      all.fixed &= words.fixed && (first || words.least == all.least);
      all.least = first ? words.least : std::min(all.least, words.least);
    }
    first = false;
  }
  return all;
}

void CheckNames(const Arguments& arguments) {
  for (const Argument& argument : arguments) {
    CHECK(std::all_of(argument.name.begin(), argument.name.end(), [](char c) {
      return std::islower(static_cast<unsigned char>(c)) != 0 ||
             std::isdigit(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("-_:/").find(c) != std::string_view::npos;
    }));
    CheckNames(argument.arguments);
  }
}

}  // namespace

TEST_CASE("arguments: values, types and key specifications") {
  CHECK(DocsOf("") == "[]");
  CHECK(DocsOf("key#0 value") ==
        R"([{"name" "key" "type" "key" "key_spec_index" :0} {"name" "value" "type" "string"}])");
  CHECK(DocsOf("n:int f:double at:time what:pattern other:key by:pattern#1") ==
        R"([{"name" "n" "type" "integer"} {"name" "f" "type" "double"} )"
        R"({"name" "at" "type" "unix-time"} {"name" "what" "type" "pattern"} )"
        R"({"name" "other" "type" "key"} )"
        R"({"name" "by" "type" "pattern" "key_spec_index" :1}])");
  CHECK(DocsOf("'ip:port'!2.8.12 [count:int@6.2.0]") ==
        R"([{"name" "ip:port" "type" "string" "deprecated_since" "2.8.12"} )"
        R"({"name" "count" "type" "integer" "since" "6.2.0" "flags" ~[+optional]}])");
}

TEST_CASE("arguments: words alone and before a value") {
  CHECK(
      DocsOf("[GET@6.2.0] [change=CH@3.0.2]") ==
      R"([{"name" "get" "type" "pure-token" "token" "GET" "since" "6.2.0" "flags" ~[+optional]} )"
      R"({"name" "change" "type" "pure-token" "token" "CH" "since" "3.0.2" "flags" ~[+optional]}])");
  CHECK(DocsOf("EX seconds:int@2.6.12") ==
        R"([{"name" "seconds" "type" "integer" "token" "EX" "since" "2.6.12"}])");
  CHECK(DocsOf("NO ONE") == R"([{"name" "no" "type" "pure-token" "token" "NO"} )"
                            R"({"name" "one" "type" "pure-token" "token" "ONE"}])");
  CHECK(DocsOf("none=") == R"([{"name" "none" "type" "pure-token" "token" ""}])");
}

TEST_CASE("arguments: one of several, blocks and repetitions") {
  CHECK(DocsOf("where<LEFT|RIGHT>") ==
        R"([{"name" "where" "type" "oneof" "arguments" [)"
        R"({"name" "left" "type" "pure-token" "token" "LEFT"} )"
        R"({"name" "right" "type" "pure-token" "token" "RIGHT"}]}])");
  CHECK(DocsOf("[LIMIT part@6.2.0(offset:int count:int)]") ==
        R"([{"name" "part" "type" "block" "token" "LIMIT" "since" "6.2.0" "flags" ~[+optional] )"
        R"("arguments" [{"name" "offset" "type" "integer"} {"name" "count" "type" "integer"}]}])");
  CHECK(DocsOf("member... [element...] [GET... field]") ==
        R"([{"name" "member" "type" "string" "flags" ~[+multiple]} )"
        R"({"name" "element" "type" "string" "flags" ~[+optional +multiple]} )"
        R"({"name" "field" "type" "string" "token" "GET" )"
        R"("flags" ~[+optional +multiple +multiple_token]}])");
}

TEST_CASE("arguments: a text that is wrong gives nothing") {
  for (const std::string_view text :
       {"key#", "key#x", "n:number", "n:",   "[key", "key]",       "a(b",  "a()",
        "a<b",  "a<>",   "a|b",      "'ip",  "''",   "key@",       "key!", "A=B=C",
        "a..",  "[]",    "GET...",   "key(", ")",    "n:int(a b)", "a b)"}) {
    INFO(text);
    CHECK_FALSE(ParseArguments(text));
  }
}

TEST_CASE("arguments: the usage of a command for people") {
  CHECK(UsageOfText("").empty());
  CHECK(UsageOfText("key#0 window [COUNT n:int] [AT t:time]") == "key window [COUNT n] [AT t]");
  CHECK(UsageOfText("key#0 value [condition<NX|XX>] [expiration<EX s:int|KEEPTTL>]") ==
        "key value [NX | XX] [EX s | KEEPTTL]");
  CHECK(UsageOfText("source destination wherefrom<LEFT|RIGHT>") ==
        "source destination <LEFT | RIGHT>");
  CHECK(UsageOfText("ITEMS item(sku qty:int)...") == "ITEMS sku qty [sku qty ...]");
  CHECK(UsageOfText("[key...]") == "[key [key ...]]");
  CHECK(UsageOfText("[AND... more(key:key rule...)]") == "[AND key rule [rule ...] ...]");
}

TEST_CASE("arguments: every row's text is well formed, and fits the row's arity where it is ours") {
  CommandHarness h;
  for (const CommandEntry& item : h.commands.entries()) {
    INFO(item.full_name);
    const auto arguments = ParseArguments(item.command->arguments);
    REQUIRE(arguments);
    CheckNames(*arguments);
    if (!item.family->native || !item.command->subcommands.empty()) continue;
    const WordCounts words = CountWords(*arguments);
    const int name_words = item.parent == nullptr ? 1 : 2;
    CHECK(std::abs(item.command->arity) == words.least + name_words);
    // Only a log says when an order was confirmed.
    const bool is_fixed = words.fixed && item.full_name != "quota.confirm";
    CHECK((item.command->arity > 0) == is_fixed);
  }
}

TEST_CASE("COMMAND DOCS has the arguments of commands and of subcommands") {
  CommandHarness h;
  h.self->reply.set_protocol(3);
  CHECK(h.Run("COMMAND DOCS decrby")
            .ends_with(R"("group" "string" "arguments" [{"name" "key" "type" "key" )"
                       R"("key_spec_index" :0} {"name" "decrement" "type" "integer"}]}})"));
  CHECK(h.Run("COMMAND DOCS object").find(R"("object|freq" {"summary")") != std::string::npos);
  CHECK(h.Run("COMMAND DOCS object|freq")
            .ends_with(R"("arguments" [{"name" "key" "type" "key" "key_spec_index" :0}]}})"));
  CHECK(h.Run("COMMAND DOCS dbsize").ends_with(R"("group" "server"}})"));
}

}  // namespace tally::server::arguments_test
