// The commands of a stream that is cut at every byte, and streams that are none.
#include "server/replication/redis_stream_reader.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "random_seed.h"
#include "server/effects/effect_stream.h"

namespace tally::server::redis_stream_reader_test {
namespace {

using test::SeededRandom;
using Commands = std::vector<std::vector<std::string>>;

constexpr size_t kMost = 1000;

std::string Stream(const Commands& commands) {
  std::string stream;
  for (const auto& words : commands) {
    AppendRespCommand(stream, std::vector<std::string_view>(words.begin(), words.end()));
  }
  return stream;
}

// Reads what is complete. The sizes must be those of the commands.
Commands ReadAll(RedisStreamReader& reader, size_t& bytes) {
  Commands commands;
  while (true) {
    const auto more = reader.Next();
    REQUIRE(more.ok());
    if (!*more) return commands;
    commands.emplace_back(reader.args().begin(), reader.args().end());
    bytes += reader.size();
  }
}

TEST_CASE("stream: commands cut at every byte", "[replica]") {
  const Commands commands = {{"SELECT", "0"},
                             {"SET", "k", "a\r\nb$3\r\n"},
                             {"PING"},
                             {"APPEND", "", std::string(300, 'x')},
                             {"x"}};
  const std::string stream = Stream(commands);
  for (size_t cut = 0; cut <= stream.size(); ++cut) {
    RedisStreamReader reader(kMost);
    size_t bytes = 0;
    reader.Take(std::string_view(stream).substr(0, cut));
    Commands found = ReadAll(reader, bytes);
    CHECK(bytes + reader.waiting() == cut);
    reader.Take(std::string_view(stream).substr(cut));
    for (auto& words : ReadAll(reader, bytes)) found.push_back(words);
    if (found != commands || bytes != stream.size()) FAIL("cut at " << cut);
  }
  RedisStreamReader reader(kMost);
  Commands found;
  size_t bytes = 0;
  for (const char byte : stream) {
    reader.Take({&byte, 1});
    for (auto& words : ReadAll(reader, bytes)) found.push_back(words);
  }
  CHECK(found == commands);
  CHECK(reader.waiting() == 0);
}

TEST_CASE("stream: random commands in random pieces", "[replica]") {
  SeededRandom random;
  RedisStreamReader reader(size_t{1} << 20);
  for (int round = 0; round < 200; ++round) {
    Commands commands(1 + random.Below(20));
    for (auto& words : commands) {
      words.resize(1 + random.Below(5));
      for (auto& word : words)
        word.assign(random.Below(random.Below(100) == 0 ? 100'000 : 50), 'w');
    }
    const std::string stream = Stream(commands);
    Commands found;
    size_t bytes = 0;
    for (size_t begin = 0; begin < stream.size();) {
      const size_t size = 1 + random.Below(4000);
      reader.Take(std::string_view(stream).substr(begin, size));
      begin += size;
      for (auto& words : ReadAll(reader, bytes)) found.push_back(words);
    }
    REQUIRE(found == commands);
    REQUIRE(bytes == stream.size());
  }
}

TEST_CASE("stream: what is no command ends it, and no length takes memory", "[replica]") {
  for (const std::string_view text :
       {"PING\r\n", "\n", "*0\r\n", "*-1\r\n", "*1\n$4\r\nPING\r\n", "*1\r\n+PING\r\n",
        "*1\r\n$x\r\n", "*1\r\n$4\r\nPINGxx", "*\r\n", "*99999999999999", "*1\r\n$1001\r\n",
        "*1001\r\n", "*12345678901\r\n", "$3\r\nabc\r\n"}) {
    INFO(text);
    RedisStreamReader reader(kMost);
    reader.Take(text);
    CHECK(absl::IsDataLoss(reader.Next().status()));
  }
  // Many words make one that is too large.
  std::string endless = "*900\r\n";
  for (int i = 0; i < 200; ++i) endless += "$0\r\n\r\n";
  RedisStreamReader reader(kMost);
  reader.Take(endless);
  CHECK(absl::IsDataLoss(reader.Next().status()));
}

}  // namespace
}  // namespace tally::server::redis_stream_reader_test
