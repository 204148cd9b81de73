// Who may set, see and delete which policy: by the rights of the user's key patterns.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"
#include "server/config/value_text.h"

namespace tally::server::policy_rights_test {
namespace {

constexpr char kNoKey[] =
    "-NOPERM this user has no permissions to access one of the keys used as arguments";

Client* As(CommandHarness& h, const std::string& name, std::vector<std::string> rules) {
  std::vector<std::string> words = {"ACL", "SETUSER", name, "on", "nopass"};
  words.insert(words.end(), rules.begin(), rules.end());
  REQUIRE(h.Run(words) == "+OK");
  Client* client = h.Connect();
  REQUIRE(h.Run(*client, {"AUTH", name, "x"}) == "+OK");
  return client;
}

// A part of a user: the commands, and the patterns with their rights.
struct Part {
  std::vector<std::string> commands;
  std::vector<std::pair<std::string, std::string>> patterns;  // rights of R and W, and a glob

  bool May(const std::string& command, const std::string& name, const char* right) const {
    return Runs(command) && Uses(name, right);
  }
  bool Runs(const std::string& command) const {
    return std::find(commands.begin(), commands.end(), command) != commands.end();
  }
  // Globs are a beginning and a star, or a whole name.
  bool Uses(const std::string& name, const char* right) const {
    return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
      const auto& [rights, glob] = pattern;
      const bool fits =
          glob.ends_with('*') ? name.starts_with(glob.substr(0, glob.size() - 1)) : name == glob;
      return fits && rights.find(right) != std::string::npos;
    });
  }
  std::string Text() const {
    std::string text;
    for (const auto& command : commands) StrAppend(text, text.empty() ? "" : " ", "+", command);
    for (const auto& [rights, glob] : patterns) {
      StrAppend(text, text.empty() ? "" : " ", rights == "RW" ? "" : StrCat("%", rights), "~",
                glob);
    }
    return text;
  }
};

class Model {
 public:
  explicit Model(test::SeededRandom& random) : random_(random) {
    for (const bool in_parentheses : {false, true, true}) {
      parts_.push_back(SomePart());
      const std::string text = parts_.back().Text();
      if (in_parentheses) {
        rules_.push_back(StrCat("(", text, ")"));
      } else {
        const auto words = SplitAtSpaces(text);
        rules_.insert(rules_.end(), words.begin(), words.end());
      }
    }
    client_ = As(h_, "ann", rules_);
  }

  void Step() {
    const std::string name = SomeName();
    switch (random_.Below(4)) {
      case 0:
        return Set(name);
      case 1:
        return Get(name);
      case 2:
        return Delete(name);
      default:
        return List();
    }
  }
  std::string Rules() const {
    std::string text;
    for (const std::string& rule : rules_) StrAppend(text, rule, " ");
    return text;
  }

 private:
  std::string SomeName() {
    std::string name;
    const size_t size = random_.Below(3);
    while (name.size() < size) name += static_cast<char>('a' + random_.Below(2));
    return name;
  }

  Part SomePart() {
    Part part;
    for (const char* command : {"policy.set", "policy.get", "policy.del", "policy.list"}) {
      if (!random_.OneIn(4)) part.commands.emplace_back(command);
    }
    constexpr const char* kRights[] = {"R", "W", "RW"};
    std::map<std::string, std::string> patterns;  // one that comes again adds its rights
    for (size_t i = random_.Below(3); i > 0; --i) {
      std::string& rights = patterns[SomeName() + (random_.OneIn(2) ? "*" : "")];
      const std::string more = kRights[random_.Below(3)];
      rights = rights.empty() || rights == more ? more : "RW";
    }
    patterns.erase("*");  // "~*" after others is another rule
    for (const auto& [glob, rights] : patterns) part.patterns.emplace_back(rights, glob);
    return part;
  }

  bool May(const std::string& command, const std::string& name, const char* right) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const Part& part) { return part.May(command, name, right); });
  }

  // True if the user was allowed to.
  bool Try(const std::vector<std::string>& words, const std::string& expected) {
    const bool allowed = May(words[0], words[1], words[0] == "policy.get" ? "R" : "W");
    const std::string dry = h_.Run(Prepend({"ACL", "DRYRUN", "ann"}, words));
    CHECK((dry == "+OK") == allowed);
    const std::string reply = h_.Run(*client_, words);
    CHECK((reply.starts_with("-NOPERM")) == !allowed);
    if (allowed) CHECK(reply == expected);
    return allowed;
  }

  static std::vector<std::string> Prepend(std::vector<std::string> front,
                                          const std::vector<std::string>& words) {
    front.insert(front.end(), words.begin(), words.end());
    return front;
  }

  void Set(const std::string& name) {
    const std::string limit = std::to_string(random_.Below(100));
    if (Try({"policy.set", name, "FIXED", limit, "1s"}, "+OK")) policies_[name] = limit;
  }
  void Get(const std::string& name) {
    const auto it = policies_.find(name);
    Try({"policy.get", name},
        it == policies_.end() ? "nil[]" : StrCat("[\"FIXED\" \"", it->second, "\" \"1s\"]"));
  }
  void Delete(const std::string& name) {
    const std::string expected = policies_.contains(name) ? ":1" : ":0";
    if (Try({"policy.del", name}, expected)) policies_.erase(name);
  }
  void List() {
    std::string expected;
    bool allowed = false;
    for (const Part& part : parts_) allowed |= part.Runs("policy.list");
    for (const auto& [name, limit] : policies_) {
      if (!May("policy.list", name, "R")) continue;
      StrAppend(expected, expected.empty() ? "" : " ", "\"", name, "\"");
    }
    const std::string reply = h_.Run(*client_, "POLICY.LIST");
    CHECK(allowed == !reply.starts_with("-NOPERM"));
    if (allowed) CHECK(reply == StrCat("[", expected, "]"));
  }

  CommandHarness h_;
  test::SeededRandom& random_;
  std::vector<Part> parts_;
  std::vector<std::string> rules_;
  Client* client_;
  std::map<std::string, std::string> policies_;
};

}  // namespace

TEST_CASE("policy rights: a name is written, read and listed by the user's key patterns") {
  CommandHarness h;
  h.Run("POLICY.SET login FIXED 5 1m");
  Client* tenant = As(h, "tenant", {"~tenant:*", "+@all", "-@admin", "-@dangerous"});
  CHECK(h.Run(*tenant, "POLICY.SET login ALLOW") == kNoKey);
  CHECK(h.Run(*tenant, "POLICY.DEL login") == kNoKey);
  CHECK(h.Run(*tenant, "POLICY.GET login") == kNoKey);
  CHECK(h.Run(*tenant, "POLICY.LIST") == "[]");
  CHECK(h.Run(*tenant, "POLICY.SET tenant:api FIXED 2 1m") == "+OK");
  CHECK(h.Run(*tenant, "POLICY.LIST") == "[\"tenant:api\"]");
  // To use one needs no right for it, only for the key.
  CHECK(h.Run(*tenant, "LIMIT.TAKE tenant:k POLICY login").starts_with("[:1 :5 :4"));
  CHECK(h.Run(*tenant, "LIMIT.TAKE other POLICY login") == kNoKey);
  Client* reader = As(h, "reader", {"%R~*", "+@all"});
  CHECK(h.Run(*reader, "POLICY.GET login") == "[\"FIXED\" \"5\" \"1m\"]");
  CHECK(h.Run(*reader, "POLICY.LIST") == "[\"login\" \"tenant:api\"]");
  CHECK(h.Run(*reader, "POLICY.SET login ALLOW") == kNoKey);
  CHECK(h.Run(*reader, "POLICY.DEL login") == kNoKey);
  Client* writer = As(h, "writer", {"%W~*", "+@all"});
  CHECK(h.Run(*writer, "POLICY.GET login") == kNoKey);
  CHECK(h.Run(*writer, "POLICY.LIST") == "[]");
  CHECK(h.Run(*writer, "POLICY.SET login FIXED 6 1m") == "+OK");
  CHECK(h.Run(*writer, "POLICY.DEL login") == ":1");
}

TEST_CASE("policy rights: a policy is no key") {
  CommandHarness h;
  CHECK(h.Run("COMMAND GETKEYS POLICY.SET login ALLOW") == "-ERR The command has no key arguments");
  CHECK(h.Run("COMMAND GETKEYS LIMIT.TAKE k POLICY login") == "[\"k\"]");
  CHECK(h.Run("COMMAND INFO policy.set").find(":0 :0 :0") != std::string::npos);
}

TEST_CASE("policy rights: in MULTI, at EXEC and in scripts") {
  CommandHarness h;
  h.Run("POLICY.SET login FIXED 5 1m");
  Client* client = As(h, "ann", {"~t:*", "+@all"});
  h.Run(*client, "MULTI");
  CHECK(h.Run(*client, "POLICY.DEL login") == kNoKey);
  CHECK(h.Run(*client, "EXEC").starts_with("-EXECABORT"));
  h.Run(*client, "MULTI");
  CHECK(h.Run(*client, "POLICY.SET t:a ALLOW") == "+QUEUED");
  h.Run("ACL SETUSER ann resetkeys ~u:*");
  CHECK(h.Run(*client, "EXEC").find("no permission to touch the specified keys") !=
        std::string::npos);
  CHECK(h.Run("POLICY.LIST") == "[\"login\"]");
  const auto eval = [&](const char* script) { return h.Run(*client, {"EVAL", script, "0"}); };
  CHECK(eval("return redis.call('POLICY.DEL', 'login')").find("can't access at least one") !=
        std::string::npos);
  CHECK(eval("return redis.call('POLICY.SET', 'u:a', 'DENY')") == "+OK");
  CHECK(eval("return redis.call('POLICY.LIST')") == "[\"u:a\"]");
  CHECK(eval("return {redis.acl_check_cmd('POLICY.SET', 'u:b', 'DENY')}") == "[:1]");
  CHECK(eval("return {redis.acl_check_cmd('POLICY.SET', 'login', 'DENY')}") == "[nil]");
  CHECK(eval("return {redis.acl_check_cmd('LIMIT.TAKE', 'u:k', 'POLICY', 'login')}") == "[:1]");
}

TEST_CASE("policy rights: users and calls by chance, as the model has it") {
  test::SeededRandom random;
  for (int round = 0; round < 200; ++round) {
    Model model(random);
    INFO("seed " << random.seed() << ", round " << round << ", rules " << model.Rules());
    for (int step = 0; step < 100; ++step) model.Step();
  }
}

}  // namespace tally::server::policy_rights_test
