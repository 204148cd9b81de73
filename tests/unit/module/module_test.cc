// The module in a server of a few lines: what it does with keys, deadlines, effects and payloads.
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "fake_server.h"
#include "random_seed.h"
#include "server/module/value_codec.h"

namespace tally::module {
namespace {

TEST_CASE("module: a server that is too old, or an option that is wrong") {
  FakeServer server;
  server.version = 0x00060212;
  CHECK_FALSE(server.Load({}));
  server.version = 0x00070000;
  CHECK_FALSE(server.Load({"debug-clock"}));
  CHECK_FALSE(server.Load({"debug-clock", "maybe"}));
  CHECK_FALSE(server.Load({"quota-retention", "-1"}));
  CHECK_FALSE(server.Load({"what", "x"}));
  CHECK(server.Load({"quota-retention", "7d", "DEBUG-CLOCK", "yes"}));
}

TEST_CASE("module: a limit's key comes, lives and ends as its window says") {
  FakeServer server;
  REQUIRE(server.Load({}));
  CHECK(server.Run({"LIMIT.TAKE", "k", "FIXED", "2", "10s"}) == "*6 :1 :2 :1 :0 :10000 :0");
  CHECK(server.keys.at("k").expire == server.now_ms + 10'000);
  CHECK(server.replicated ==
        std::vector<std::string>{"LIMIT.TAKE k FIXED 2 10s COST 1 AT 1700000000.000"});
  CHECK(server.events == std::vector<std::string>{"limit.take k"});
  server.Run({"LIMIT.TAKE", "k", "FIXED", "2", "10s"});
  server.replicated.clear();
  server.events.clear();
  CHECK(server.Run({"LIMIT.TAKE", "k", "FIXED", "2", "10s"}) == "*6 :0 :2 :0 :10000 :10000 :1");
  CHECK(server.replicated.empty());
  CHECK(server.events.empty());
  // The server has not ended the key yet.
  server.now_ms += 10'000;
  CHECK(server.Run({"LIMIT.PEEK", "k", "FIXED", "2", "10s"}) == "*6 :1 :2 :1 :0 :10000 :0");
  CHECK(server.keys.size() == 1);
  CHECK(server.Run({"LIMIT.RESET", "k"}) == ":0");
  CHECK(server.keys.empty());
  CHECK(server.replicated == std::vector<std::string>{"DEL k"});
  CHECK(server.events == std::vector<std::string>{"expired k"});
}

TEST_CASE("module: a key that has ended may come to be again with another type") {
  FakeServer server;
  REQUIRE(server.Load({}));
  for (int i = 0; i < 300; ++i) server.Run({"HITS.ADD", "k", "10s", "COUNT", "3"});
  server.now_ms += 60'000;
  CHECK(server.Run({"LIMIT.TAKE", "k", "SLIDING", "500", "1m", "COST", "400"}) ==
        "*6 :1 :500 :100 :0 :60000 :0");
  CHECK(server.keys.at("k").type->name == "tallylimt");
  server.now_ms += 60'000;
  CHECK(server.Run({"ACTIVE.TOUCH", "k", "ann"}) == ":1");
  CHECK(server.keys.at("k").type->name == "tallyactv");
  CHECK(server.keys.at("k").expire == redis::kNoExpire);
}

TEST_CASE("module: keys of other types") {
  FakeServer server;
  REQUIRE(server.Load({}));
  server.keys["s"] = {};
  CHECK(server.Run({"HITS.ADD", "s", "1m"}).starts_with("-WRONGTYPE"));
  CHECK(server.Run({"LIMIT.RESET", "s"}).starts_with("-WRONGTYPE"));
  CHECK(server.keys.contains("s"));
  server.Run({"HITS.ADD", "h", "1m"});
  CHECK(server.Run({"QUOTA.LEFT", "h", "ann", "1"}).starts_with("-WRONGTYPE"));
}

TEST_CASE("module: the same key twice in one call") {
  FakeServer server;
  REQUIRE(server.Load({}));
  CHECK(server.Run({"LIMIT.TAKE", "k", "FIXED", "5", "1m", "AND", "k", "SLIDING", "3", "1m"}) ==
        "*6 :1 :3 :2 :0 :60000 :0");
  CHECK(server.keys.size() == 1);
  CHECK(server.Run({"LIMIT.PEEK", "k", "FIXED", "5", "1m"}) == "*6 :1 :5 :3 :0 :60000 :0");
}

// An effect is counted as it was judged, at any later time, and passed on as it is.
TEST_CASE("module: a call that names too many keys opens none of them") {
  FakeServer server;
  REQUIRE(server.Load({}));
  const auto call = [](std::vector<std::string> words, int keys, const std::string& between) {
    for (int i = 0; i < keys; ++i) {
      if (i > 0 && !between.empty()) words.push_back(between);
      words.push_back("k" + std::to_string(i));
      if (!between.empty()) words.insert(words.end(), {"FIXED", "1", "1m"});
    }
    return words;
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"LIMIT.COMMIT", "i"}, ""},
      {{"LIMIT.CANCEL", "i"}, ""},
      {{"LIMIT.EXTEND", "i", "10s"}, ""},
      {{"LIMIT.TAKE"}, "AND"},
      {{"LIMIT.FORCE"}, "AND"},
      {{"LIMIT.PEEK"}, "AND"},
      {{"LIMIT.RESERVE", "i", "9s"}, "AND"}};
  for (const auto& [words, between] : commands) {
    INFO(words.front());
    server.opened = 0;
    server.Run(call(words, 64, between));
    CHECK(server.opened == 64);
    server.opened = 0;
    CHECK(server.Run(call(words, 65, between)).starts_with("-ERR"));
    CHECK(server.opened == 0);
  }
}

TEST_CASE("module: what is replicated makes the same values again") {
  FakeServer server;
  REQUIRE(server.Load({}));
  server.context_flags = redis::kContextReplicated;
  server.now_ms += 59'000;
  for (int i = 0; i < 3; ++i) {
    server.Run({"LIMIT.TAKE", "k", "FIXED", "2", "1m", "COST", "1", "AT", "1700000000.000"});
  }
  CHECK(server.replicated.size() == 3);
  CHECK(server.keys.at("k").expire == 1'700'000'060'000);
  server.context_flags = 0;
  CHECK(server.Run({"LIMIT.SHOW", "k"}) == "*1 *5 $FIXED :60000 :3 :1700000000000 :1700000060000");
  CHECK(server.Run({"LIMIT.TAKE", "k", "FIXED", "2", "1m", "AT", "1", "NOW", "1"}).front() == '-');
}

TEST_CASE("module: purchases that count are kept, however late their effects are replayed") {
  FakeServer server;
  REQUIRE(server.Load({"quota-retention", "1s"}));
  server.Run({"QUOTA.SETLIMIT", "b", "1", "0", "5", "1s"});
  server.Run({"QUOTA.BUY", "b", "ann", "7", "ITEMS", "1", "0", "1"});
  server.Run({"QUOTA.SETLIMIT", "b", "1", "0", "5", "1h"});
  server.now_ms += 2'000;
  const std::string left = server.Run({"QUOTA.LEFT", "b", "ann", "1"});
  const std::vector<std::string> effects = server.replicated;
  REQUIRE(effects.size() == 3);

  const long long instant = server.now_ms;
  server.Erase("b");
  server.context_flags = redis::kContextReplicated;
  server.now_ms += 60'000;
  for (const std::string& effect : effects) server.Run(absl::StrSplit(effect, ' '));
  server.context_flags = 0;
  server.now_ms = instant;
  CHECK(server.Run({"QUOTA.LEFT", "b", "ann", "1"}) == left);
}

void Fill(FakeServer& server, test::SeededRandom& random) {
  for (int i = 0; i < 400; ++i) {
    const std::string n = std::to_string(random.Below(50));
    server.now_ms += static_cast<long long>(random.Below(100));
    server.Run({"HITS.ADD", "hits" + n, "1h", "COUNT", n});
    server.Run({"HITS.ADD", "hits", "1h"});
    server.Run({"LIMIT.TAKE", "limit" + n, "SLIDING", "900", "1h", "BUCKET", "9", "1", "1m"});
    server.Run({"LIMIT.TAKE", "limit", "SLIDING", "900", "1h"});
    const std::string id = "id" + std::to_string(i);
    server.Run({"LIMIT.RESERVE", id, "1h", "held" + n, "SLIDING", "900", "1h", "CONCURRENT", "3",
                "SHADOW", "BUCKET", "2", "1", "1h"});
    server.Run({"LIMIT.RESERVE", id, "1h", "held", "FIXED", "900", "1h", "COST", "2"});
    if (i % 3 == 0) server.Run({"LIMIT.COMMIT", id, "held", "COST", n});
    if (i % 5 == 0) server.Run({"LIMIT.CANCEL", id, "held" + n});
    server.Run({"ACTIVE.TOUCH", "active", id, n});
    server.Run({"QUOTA.BUY", "quota", n, std::to_string(i), "ITEMS", "sku" + n, "0", "1"});
    server.Run({"QUOTA.SETLIMIT", "quota", "sku" + n, "0", "100", "30d"});
  }
}

TEST_CASE("module: what is held is the same on a replica") {
  FakeServer server;
  REQUIRE(server.Load({}));
  server.Run({"POLICY.SET", "cart", "FIXED", "9", "1h", "HOLDS", "10m", "0.4"});
  server.replicated.clear();
  CHECK(server.Run({"LIMIT.RESERVE", "a", "11m", "k", "POLICY", "cart"}) ==
        "-ERR ttl must be at most 10m, as HOLDS says");
  for (const char* id : {"a", "b", "c"}) {
    server.Run({"LIMIT.RESERVE", id, "10m", "k", "POLICY", "cart", "SHADOW", "SLIDING", "1", "1h"});
  }
  server.Run({"LIMIT.COMMIT", "a", "k", "COST", "2"});
  server.Run({"LIMIT.EXTEND", "b", "9m", "k", "COST", "1"});
  server.Run({"LIMIT.CANCEL", "c", "k"});
  server.Run({"LIMIT.TAKE", "k", "POLICY", "cart", "ONCE", "d"});
  const std::vector<std::vector<std::string>> questions = {
      {"LIMIT.HELD", "k"}, {"LIMIT.SHOW", "k"}, {"LIMIT.PEEK", "k", "POLICY", "cart"}};
  std::vector<std::string> answers;
  for (const auto& question : questions) answers.push_back(server.Run(question));
  CHECK(answers[0].substr(0, 2) == "*1");

  const std::vector<std::string> effects = server.replicated;
  REQUIRE(effects.size() == 7);
  server.Erase("k");
  server.context_flags = redis::kContextReplicated;
  for (const std::string& effect : effects) server.Run(absl::StrSplit(effect, ' '));
  server.context_flags = 0;
  for (size_t i = 0; i < questions.size(); ++i) CHECK(server.Run(questions[i]) == answers[i]);
  CHECK(server.Run({"LIMIT.COMMIT", "c", "k"}) == "*3 :4 :0 :0");
}

redis::Io SavedValue(const FakeServer::KeyValue& key) {
  redis::Io io;
  key.type->methods.rdb_save(&io, key.value);
  return io;
}

TEST_CASE("module: a payload gives the value that was saved") {
  test::SeededRandom random;
  FakeServer server;
  REQUIRE(server.Load({}));
  Fill(server, random);
  REQUIRE(server.keys.size() > 80);
  for (auto& [name, key] : server.keys) {
    INFO(name);
    redis::Io io = SavedValue(key);
    void* loaded = key.type->methods.rdb_load(&io, kEncodingVersion);
    REQUIRE(loaded != nullptr);
    CHECK(io.at == io.bytes.size());
    FakeServer::KeyValue again{key.type, loaded};
    CHECK(SavedValue(again).bytes.size() == io.bytes.size());
    void* copy = key.type->methods.copy(nullptr, nullptr, loaded);
    CHECK(key.type->methods.mem_usage(copy) > 0);
    key.type->methods.free(copy);
    key.type->methods.free(loaded);
    CHECK(key.type->methods.rdb_load(&io, kEncodingVersion + 1) == nullptr);
  }
}

// What is loaded is changed in its place, so its memory must be as large as that of any other
// value.
TEST_CASE("module: a loaded value can be changed, whatever its size") {
  FakeServer server;
  REQUIRE(server.Load({}));
  for (int rules = 1; rules <= 12; ++rules) {
    std::vector<std::string> take = {"LIMIT.TAKE", "k"};
    for (int i = 1; i <= rules; ++i) {
      for (const std::string& word : {std::string("FIXED"), std::string("900"), std::to_string(i)})
        take.push_back(word);
    }
    server.Run(take);
    FakeServer::KeyValue& key = server.keys.at("k");
    redis::Io io = SavedValue(key);
    key.type->methods.free(key.value);
    key.value = key.type->methods.rdb_load(&io, kEncodingVersion);
    REQUIRE(key.value != nullptr);
    // Each call counts one hit more; from 128 on the number of hits takes a second byte.
    for (int hits = 2; hits < 140; ++hits) {
      const std::string left = ":" + std::to_string(900 - hits);
      CHECK_THAT(server.Run(take), Catch::Contains(":1 :900 " + left));
    }
    server.Erase("k");
  }
}

TEST_CASE("module: a block with a wrong length, or with bytes after its end") {
  FakeServer server;
  REQUIRE(server.Load({}));
  server.Run({"LIMIT.TAKE", "k", "FIXED", "9", "1m"});
  const FakeServer::KeyValue& key = server.keys.at("k");
  const std::string good = SavedValue(key).bytes;
  REQUIRE(good.size() == 17);  // the length of the string, and 16 bytes
  REQUIRE(good.back() == 0);
  const auto loads = [&](size_t at, char byte) {
    redis::Io io{good};
    io.bytes[at] = byte;
    void* loaded = key.type->methods.rdb_load(&io, kEncodingVersion);
    key.type->methods.free(loaded);
    return loaded != nullptr;
  };
  CHECK(loads(1, good[1]));
  for (const int length : {0, good[1] - 1, 16, 40, 253, 254}) {
    CHECK_FALSE(loads(1, static_cast<char>(length)));
  }
  CHECK_FALSE(loads(16, 1));
  CHECK_FALSE(loads(0, 8));
}

TEST_CASE("module: a payload that ends early, or of which bytes are changed") {
  test::SeededRandom random;
  FakeServer server;
  REQUIRE(server.Load({}));
  Fill(server, random);
  std::vector<std::pair<redis::Type*, std::string>> payloads;
  for (auto& [name, key] : server.keys) payloads.emplace_back(key.type, SavedValue(key).bytes);
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    auto& [type, bytes] = payloads[random.Below(payloads.size())];
    redis::Io io{bytes};
    if (random.OneIn(2)) io.bytes.resize(random.Below(io.bytes.size()));
    for (int change = 0; change < 2 && !io.bytes.empty(); ++change) {
      io.bytes[random.Below(io.bytes.size())] = static_cast<char>(random.Below(256));
    }
    void* loaded = type->methods.rdb_load(&io, kEncodingVersion);
    refused += loaded == nullptr ? 1 : 0;
    type->methods.free(loaded);
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace tally::module
