// What the server accepts it saves, loads, copies and reloads, however large one element is.
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/bytes/str_cat.h"
#include "fake_file_system.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::large_values_test {
namespace {

using test::FakeFileSystem;
using Words = CommandHarness::Words;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr size_t kMiB = size_t{1} << 20;

struct Case {
  const char* name;
  std::vector<Words> writes;
  std::vector<Words> questions;
};

std::vector<Case> Cases() {
  const std::string huge(17 * kMiB, 'x');
  const std::string other = huge + "y";
  std::vector<Words> fields;
  std::vector<Words> lengths;
  for (int i = 0; i < 12; ++i) {
    fields.push_back({"HSET", "h", StrCat("field", i), std::string(2 * kMiB, 'v')});
    lengths.push_back({"HSTRLEN", "h", StrCat("field", i)});
  }
  return {
      {"a member of a set",
       {{"SADD", "s", huge}, {"SADD", "s", other, "z"}},
       {{"SMISMEMBER", "s", huge, other, "z", "x"}, {"SCARD", "s"}}},
      {"elements of a list",
       {{"RPUSH", "l", "a", huge, "b", other}},
       {{"LPOS", "l", huge}, {"LPOS", "l", other}, {"LLEN", "l"}}},
      {"fields of 2 MB", fields, lengths},
      {"a field's name", {{"HSET", "h", huge, "1", "b", "2"}}, {{"HMGET", "h", huge, "b", "x"}}},
      {"a member of a sorted set",
       {{"ZADD", "z", "1", huge, "2", other}},
       {{"ZSCORE", "z", huge}, {"ZRANK", "z", other}}},
      {"a string",
       {{"SETRANGE", "t", StrCat(40 * kMiB), "end"}},
       {{"STRLEN", "t"}, {"GETRANGE", "t", "-5", "-1"}}},
      {"the key of a string",
       {{"SET", huge, "1", "PX", "100000"}, {"SET", other, "2"}},
       {{"GET", huge}, {"PEXPIRETIME", huge}, {"GET", other}}},
      {"the key of a small hash", {{"HSET", huge, "f", "1"}}, {{"HGETALL", huge}}},
      {"the key of a list of integers",
       {{"RPUSH", huge, "1", "2", "3"}},
       {{"LRANGE", huge, "0", "-1"}}},
      {"the key of hits",
       {{"HITS.ADD", huge, "1d"}, {"HITS.ADD", huge, "1d", "COUNT", "3"}},
       {{"HITS.COUNT", huge}}},
      {"the key of a limit",
       {{"LIMIT.TAKE", huge, "FIXED", "3", "60s", "SLIDING", "5", "1d"}},
       {{"LIMIT.PEEK", huge, "FIXED", "3", "60s", "SLIDING", "5", "1d"}}},
      {"the key of ids", {{"ACTIVE.TOUCH", huge, "a", "b"}}, {{"ACTIVE.ONLINE", huge}}},
  };
}

std::vector<std::string> Answers(DurableServer& server, const std::vector<Words>& questions) {
  std::vector<std::string> answers;
  for (const Words& words : questions) answers.push_back(server.harness().Run(words));
  return answers;
}

void RewriteFiles(DurableServer& server) {
  REQUIRE(server.harness().Run("BGREWRITEAOF").starts_with("+"));
  while (server.rewriting()) {
    REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
    std::this_thread::yield();
  }
  REQUIRE(server.InfoNumber("aof_rewrite_failures") == 0);
}

TEST_CASE("Huge elements, keys and names are logged, saved, reloaded and copied") {
  for (const Case& each : Cases()) {
    INFO(each.name);
    FakeFileSystem files;
    std::vector<std::string> answers;
    {
      DurableServer server(files, {}, kNow);
      for (const Words& words : each.writes) {
        REQUIRE_FALSE(server.harness().Run(words).starts_with("-"));
        REQUIRE(server.persistence().FlushTurn().ok());
      }
      answers = Answers(server, each.questions);
      RewriteFiles(server);
      server.Reload();
      CHECK(Answers(server, each.questions) == answers);
    }
    DurableServer server(files, {}, kNow);  // from the base
    CHECK(Answers(server, each.questions) == answers);
    const std::string& key = each.writes[0][1];
    REQUIRE(server.harness().Run(Words{"COPY", key, "copy"}) == ":1");
    std::vector<Words> of_copy = each.questions;
    for (Words& words : of_copy) {
      if (words[1] == key) words[1] = "copy";
    }
    CHECK(Answers(server, of_copy) == answers);
    CHECK(server.harness().Run(Words{"DEL", key}) == ":1");
  }
}

TEST_CASE("Huge elements are read back from the log") {
  for (const Case& each : Cases()) {
    INFO(each.name);
    FakeFileSystem files;
    std::vector<std::string> answers;
    {
      DurableServer server(files, {}, kNow);
      for (const Words& words : each.writes) server.harness().Run(words);
      REQUIRE(server.persistence().FlushTurn().ok());
      answers = Answers(server, each.questions);
    }
    DurableServer server(files, {}, kNow);
    CHECK(Answers(server, each.questions) == answers);
  }
}

TEST_CASE("A large value under a long key does not make the base many times as large") {
  const std::string key(4 * kMiB, 'k');
  for (const bool changes : {false, true}) {
    FakeFileSystem files;
    {
      DurableServer server(files, {}, kNow);
      Words fields{"HSET", key};
      for (int i = 0; i < 300; ++i) {
        fields.insert(fields.end(), {StrCat("f", i), std::string(60'000, 'v')});
      }
      server.harness().Run(fields);
      server.harness().Run("BGREWRITEAOF");
      Words change{"HSET", key, "", "new"};
      int turns = 0;
      while (server.rewriting()) {
        change[2] = StrCat("f", turns++ % 300);
        if (changes) server.harness().Run(change);
        REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
        std::this_thread::yield();
      }
      CHECK(server.InfoNumber("aof_base_size") < 60 * kMiB);
      server.Close();
    }
    DurableServer server(files, {}, kNow);
    CHECK(server.harness().Run(Words{"HLEN", key}) == ":300");
  }
}

}  // namespace
}  // namespace tally::server::large_values_test
