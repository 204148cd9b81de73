// Errors of tallyd's own commands end with the usage of the command, or of the rule that is wrong.
#include "server/command/usage.h"

#include <string>
#include <string_view>
#include <vector>

#include "server/command/arguments.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server::usage_test {
namespace {

constexpr size_t kMaxErrorBytes = 400;

}  // namespace

TEST_CASE("usage: a wrong number of arguments is told with the usage, for commands that are ours") {
  CommandHarness h;
  CHECK(h.Run("HITS.ADD key") ==
        "-ERR wrong number of arguments for 'hits.add' command. Usage: HITS.ADD key window "
        "[COUNT n] [AT t] [CAP max]");
  CHECK(h.Run("policy.list x") ==
        "-ERR wrong number of arguments for 'policy.list' command. Usage: POLICY.LIST");
  CHECK(h.Run("GET") == "-ERR wrong number of arguments for 'get' command");
  CHECK(h.Run("CLIENT ID x") == "-ERR wrong number of arguments for 'client|id' command");
}

TEST_CASE("usage: every one of our commands says it, in few bytes and for each caller") {
  CommandHarness h;
  for (const CommandEntry& entry : h.commands.entries()) {
    if (!entry.family->native || entry.parent != nullptr) continue;
    const int arity = entry.command->arity;
    std::vector<std::string> words = {entry.full_name};
    if (arity == 1) words.emplace_back("x");
    if (arity == -1) continue;
    INFO(entry.full_name);
    const std::string usage = StrCat(". Usage: ", UsageOf(entry));
    const std::string wrong =
        StrCat("wrong number of arguments for '", entry.full_name, "' command");
    const std::string error = h.Run(*h.self, words);
    CHECK(error == StrCat("-ERR ", wrong, usage));
    CHECK(error.size() <= kMaxErrorBytes);
    h.Run("MULTI");
    CHECK(h.Run(*h.self, words) == error);
    CHECK(h.Run("EXEC").starts_with("-EXECABORT"));
    std::string call = StrCat("return redis.pcall('", entry.full_name, "'");
    if (arity == 1) call += ", 'x'";
    CHECK(h.Run(*h.self, {"EVAL", call + ")", "0"})
              .starts_with(
                  StrCat("-ERR Wrong number of args calling Redis command from script", usage)));
  }
}

TEST_CASE("usage: what is not in the syntax is told with the usage") {
  CommandHarness h;
  for (const std::string_view line : {"HITS.ADD k 1s AT",
                                      "HITS.ADD k 1s FOO 5",
                                      "HITS.COUNT k WINDOW",
                                      "HITS.UNDO k 1 AT 5",
                                      "HITS.RANGE k FROM 1 FROM 2 STEP 1",
                                      "LIMIT.TAKE k ALLOW COST",
                                      "LIMIT.PEEK k ALLOW FOO 1",
                                      "LIMIT.FORCE k ALLOW AND",
                                      "LIMIT.TAKE k ALLOW AND j",
                                      "LIMIT.GIVE k 1 AT",
                                      "CL.THROTTLE k 1 1 1 1 1",
                                      "ACTIVE.CREATE k TZ",
                                      "ACTIVE.TOUCH k",
                                      "ACTIVE.ONLINE k AT 1 AT 2",
                                      "ACTIVE.PEAK k DAYS 3",
                                      "ACTIVE.DAY k DAY",
                                      "ACTIVE.USERS k FROM 2023-11-14 FROM 2023-11-14",
                                      "ACTIVE.SERIES k FROM 1 TO 2 FOO 3",
                                      "ACTIVE.SCAN k 0 COUNT",
                                      "ACTIVE.SCAN k 0 FOO",
                                      "QUOTA.BUY b 1 1 THINGS 1 0 1",
                                      "QUOTA.BUY b 1 1 ITEMS 1 0 1 2 0",
                                      "QUOTA.BUY b 1 1 ITEMS 1 0 1 AT",
                                      "QUOTA.BUY b 1 1 ITEMS 1 0 1 ONCE MORE",
                                      "QUOTA.RETURN b 1 1 ITEMS 1 1 ONCE FOO",
                                      "QUOTA.SETLIMIT b 1 0 1 1d 2 0 1",
                                      "QUOTA.LEFT b 1 7 ACTIONS 1",
                                      "QUOTA.SHOW b 1 7 AT 1",
                                      "QUOTA.LIMITS b 1 AT 5",
                                      "QUOTA.DELLIMIT b 1 ACTIONS",
                                      "QUOTA.RESET b 1 AT 5"}) {
    INFO(line);
    const std::string error = h.Run(line);
    const std::string_view name = line.substr(0, line.find(' '));
    CHECK(error.starts_with("-ERR "));
    CHECK(error.ends_with(StrCat(". Usage: ", UsageOf(*h.commands.Find(name)))));
    CHECK(error.size() <= kMaxErrorBytes);
  }
  CHECK(h.Run("LIMIT.GIVE k 1 AT") == "-ERR syntax error. Usage: LIMIT.GIVE key [n] [AT t]");
  CHECK(h.Run("SET k v FOO") == "-ERR syntax error");
}

namespace {

// A word that an argument of this name takes.
std::string Sample(const Argument& argument) {
  if (argument.type == ArgumentType::kBlock) {
    std::string words;
    for (const Argument& one : argument.arguments) {
      StrAppend(words, words.empty() ? "" : " ", Sample(one));
    }
    return words;
  }
  if (argument.type == ArgumentType::kOneOf) return argument.arguments.front().name;
  if (argument.type == ArgumentType::kPureToken) return std::string(*argument.token);
  if (argument.type != ArgumentType::kString) return "1";
  if (argument.name == "rule") return "ALLOW";
  if (argument.name == "zone") return "UTC";
  if (argument.name == "date") return "2023-11-14";
  return argument.name == "window" ? "5m" : "1";
}

std::string Sent(const Argument& argument) {
  const bool has_value = argument.token && argument.type != ArgumentType::kPureToken;
  return has_value ? StrCat(*argument.token, " ", Sample(argument)) : Sample(argument);
}

}  // namespace

TEST_CASE("usage: an option that is given twice is an error that names it") {
  CommandHarness h;
  std::vector<std::string> tried;
  for (const CommandEntry& entry : h.commands.entries()) {
    if (!entry.family->native || entry.command->handler == nullptr) continue;
    if (entry.parent != nullptr) continue;  // HOTKEYS is Redis's
    const Arguments arguments = ArgumentsOf(*entry.command);
    std::string call = entry.full_name;
    for (const Argument& argument : arguments) {
      if (!argument.optional) StrAppend(call, " ", Sent(argument));
    }
    for (const Argument& option : arguments) {
      if (!option.optional || !option.token || option.multiple_token) continue;
      const std::string once = StrCat(call, " ", Sent(option));
      INFO(once);
      const std::string reply = h.Run(once);
      const bool stopped = reply.starts_with("-ERR") && reply.find("Usage") != reply.npos;
      CHECK_FALSE(stopped);
      CHECK(h.Run(StrCat(once, " ", Sent(option))) ==
            StrCat("-ERR ", *option.token, " is given twice. Usage: ", UsageOf(entry)));
      tried.push_back(once);
    }
  }
  CHECK(tried.size() > 20);
  for (const std::string_view rule :
       {"CALENDAR 1 day TZ UTC WEEKSTART monday TZ UTC", "BASE 1 1 5s tz UTC tz UTC"}) {
    CHECK(h.Run(StrCat("LIMIT.TAKE k ", rule)) == "-ERR TZ is given twice");
    CHECK(h.Run(StrCat("POLICY.SET p ", rule)) == "-ERR TZ is given twice");
  }
  CHECK(h.Run("LIMIT.TAKE k CALENDAR 1 day WEEKSTART monday WEEKSTART sunday") ==
        "-ERR WEEKSTART is given twice");
  CHECK(
      h.Run("QUOTA.LEFTBYUSER b ann ACTIONS actions 1").starts_with("-ERR ACTIONS is given twice"));
  CHECK(h.Run("QUOTA.LEFTBYUSER b ann ACTIONS actions") == "[[]]");
}

TEST_CASE("usage: a rule that lacks something says what it needs") {
  CommandHarness h;
  for (const std::string_view command : {"LIMIT.TAKE k", "LIMIT.PEEK k ALLOW", "POLICY.SET name"}) {
    const auto error = [&](std::string_view rule) { return h.Run(StrCat(command, " ", rule)); };
    CHECK(error("FIXED 1") == "-ERR FIXED needs: limit period");
    CHECK(error("calendar 1") == "-ERR CALENDAR needs: limit unit");
    CHECK(error("SLIDING 1") == "-ERR SLIDING needs: limit period");
    CHECK(error("ROLLING 1") == "-ERR ROLLING needs: limit period");
    CHECK(error("BUCKET 1 1") == "-ERR BUCKET needs: capacity refill period");
    CHECK(error("BASE 1 1") == "-ERR BASE needs: base limit period");
  }
  CHECK(h.Run("LIMIT.TAKE k POLICY") == "-ERR POLICY needs: name");
}

TEST_CASE("usage: an error stays one line of few bytes, whatever it was given") {
  CommandHarness h;
  const std::string evil = std::string("x\r\n+OK\r\n") + std::string(100'000, 'y');
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"QUOTA.LEFT", "b", "1", "7", "AT", "1", evil},
                                             {"LIMIT.TAKE", "k", evil},
                                             {"HITS.ADD", "k", "1s", evil, evil},
                                             {"POLICY.SET", "p", evil},
                                             {"LIMIT", evil},
                                             {evil, evil}}) {
    const std::string wire = h.Wire(*h.self, words);
    CHECK(wire.front() == '-');
    CHECK(wire.find('\r') == wire.size() - 2);
    CHECK(wire.size() <= kMaxErrorBytes);
  }
}

TEST_CASE("HELP of a family lists each command with its whole syntax and its summary") {
  CommandHarness h;
  for (const std::string_view family : {"HITS", "LIMIT", "POLICY", "ACTIVE", "QUOTA"}) {
    INFO(family);
    const std::string help = h.Run(StrCat(family, " HELP"));
    CHECK(help.starts_with(StrCat("[+", family, " commands are: ")));
    CHECK(help.ends_with(StrCat("+", family, " HELP +    Prints this help.]")));
    for (const CommandEntry& entry : h.commands.entries()) {
      const std::string usage = UsageOf(entry);
      if (!usage.starts_with(StrCat(family, "."))) continue;
      CHECK(help.find(StrCat("+", usage, " +    ", entry.command->summary)) != std::string::npos);
    }
    CHECK(h.Run(StrCat(family, " WHAT")) ==
          StrCat("-ERR unknown subcommand 'WHAT'. Try ", family, " HELP."));
  }
  const std::string help = h.Run("LIMIT HELP");
  CHECK(help.find("+CL.THROTTLE key max_burst count period [quantity] ") != std::string::npos);
  for (const std::string_view rule :
       {"+FIXED limit period [FROM instant] ",
        "+CALENDAR limit unit [TZ zone] [STARTS start] [WEEKSTART monday|sunday] ",
        "+SLIDING limit period ", "+ROLLING limit period ", "+BUCKET capacity refill period ",
        "+BASE base limit period [TZ zone] [STARTS time] ", "+ALLOW ", "+DENY ", "+POLICY name "}) {
    CHECK(help.find(rule) != std::string::npos);
  }
}

}  // namespace tally::server::usage_test
