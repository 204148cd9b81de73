// DUMP and RESTORE. The error replies were taken from redis-server
// 7.0.15.
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"
#include "server/effect_follower.h"
#include "server/rdb/crc64.h"
#include "server/rdb/dump_payload.h"
#include "tests/unit/server/rdb_bytes.h"

namespace tally::server::serialization_commands_test {
namespace {

using rdb::test::Byte;
using rdb::test::Len;
using rdb::test::Little;
using rdb::test::Str;
using test::SeededRandom;

std::string Payload(const std::string& value, uint64_t version = 10) {
  const std::string summed = value + Little(version, 2);
  return summed + Little(rdb::ExtendCrc64(0, summed), 8);
}

// The bytes of a bulk reply.
std::string Dumped(CommandHarness& h, const std::string& key) {
  const Keyspace::Entry entry = h.engine.database(0).Peek(key);
  return rdb::DumpPayload(entry);
}

std::string Restore(CommandHarness& h, const std::string& payload, const std::string& key = "k") {
  return h.Run(std::vector<std::string>{"RESTORE", key, "0", payload, "REPLACE"});
}

// All of a value as a reply, its words in order: tables have none.
std::string Content(CommandHarness& h, const std::string& key) {
  const std::vector<std::pair<std::string, std::string>> readers = {
      {"+string", "GET " + key},
      {"+list", "LRANGE " + key + " 0 -1"},
      {"+hash", "HGETALL " + key},
      {"+set", "SMEMBERS " + key},
      {"+zset", "ZRANGE " + key + " 0 -1 WITHSCORES"},
      {"+hits", "HITS.SHOW " + key},
      {"+limit", "LIMIT.SHOW " + key},
      {"+active", "ACTIVE.SCAN " + key + " 0 COUNT 100000"},
      {"+quota", "QUOTA.LIMITS " + key + " sku"},
  };
  const std::string type = h.Run("TYPE " + key);
  for (const auto& [name, reader] : readers) {
    if (name != type) continue;
    std::string reply = h.Run(reader);
    if (name != "+set" && name != "+hash") return reply;
    std::vector<std::string> words = absl::StrSplit(reply.substr(1, reply.size() - 2), ' ');
    if (name == "+set") std::sort(words.begin(), words.end());
    if (name == "+hash") {
      std::vector<std::string> pairs;
      for (size_t i = 0; i + 1 < words.size(); i += 2) pairs.push_back(words[i] + words[i + 1]);
      std::sort(pairs.begin(), pairs.end());
      words = pairs;
    }
    return absl::StrJoin(words, " ");
  }
  return "-";
}

}  // namespace

TEST_CASE("restore: its errors, in Redis's order") {
  CommandHarness h;
  h.Run("SET a 1");
  CHECK(h.Run("DUMP none") == "nil");
  CHECK(h.Run("RESTORE a x v foo") == "-ERR syntax error");
  CHECK(h.Run("RESTORE a x v") == "-BUSYKEY Target key name already exists.");
  CHECK(h.Run("RESTORE b x v") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("RESTORE b -1 v") == "-ERR Invalid TTL value, must be >= 0");
  CHECK(h.Run("RESTORE b 0 v") == "-ERR DUMP payload version or checksum are wrong");
  CHECK(h.Run("RESTORE b 0 v IDLETIME") == "-ERR syntax error");
  CHECK(h.Run("RESTORE b 0 v IDLETIME 1 FREQ 1") == "-ERR syntax error");
  CHECK(h.Run("RESTORE b 0 v FREQ 1 IDLETIME 1") == "-ERR syntax error");
  CHECK(h.Run("RESTORE b 0 v IDLETIME -1") == "-ERR Invalid IDLETIME value, must be >= 0");
  CHECK(h.Run("RESTORE b 0 v FREQ 256") == "-ERR Invalid FREQ value, must be >= 0 and <= 255");
}

TEST_CASE("restore: malformed payloads change nothing") {
  CommandHarness h;
  h.Run("SET k old");
  const auto wrong = "-ERR DUMP payload version or checksum are wrong";
  const std::string one = Byte(0) + Str("1");
  CHECK(Restore(h, "") == wrong);
  for (const uint64_t version : {0, 5, 16, 79, 82, 99, 65535}) {
    CHECK(Restore(h, Payload(one, version)) == wrong);
  }
  std::string flipped = Payload(one);
  flipped[1] ^= 1;
  CHECK(Restore(h, flipped) == wrong);
  const std::string nan = Little(0x7ff8000000000000, 8);
  for (const std::string& body :
       {std::string(), Byte(0), Byte(0) + Byte(0x81) + std::string(8, '\x7f'), Byte(1) + Len(0),
        Byte(1) + Byte(0x81) + std::string(8, '\x7f') + Str("a"),
        Byte(2) + Len(2) + Str("a") + Str("a"),
        Byte(4) + Len(2) + Str("f") + Str("1") + Str("f") + Str("2"),
        Byte(5) + Len(1) + Str("m") + nan, Byte(6) + Str("x"), Byte(99) + Str("x"),
        std::string("VALKEY080"), std::string("REDIS0010")}) {
    CHECK(Restore(h, Payload(body)).starts_with("-ERR Bad data format"));
  }
  CHECK(h.Run("GET k") == "\"old\"");
  CHECK(h.Run("DBSIZE") == ":1");
}

TEST_CASE("restore: versions of Redis and Valkey, and no checksum") {
  CommandHarness h;
  const std::string value = Byte(0) + Str("v");
  for (const uint64_t version : {6, 9, 10, 11, 12, 15, 80, 81}) {
    h.Run("DEL k");
    CHECK(Restore(h, Payload(value, version)) == "+OK");
    CHECK(h.Run("GET k") == "\"v\"");
  }
  CHECK(Restore(h, Byte(0) + Str("w") + Little(10, 2) + std::string(8, '\0')) == "+OK");
  CHECK(h.Run("GET k") == "\"w\"");
}

TEST_CASE("restore: deadlines") {
  CommandHarness h;
  const std::string value = Payload(Byte(0) + Str("v"));
  const auto run = [&](const std::string& ttl, const std::string& option) {
    return h.Run(std::vector<std::string>{"RESTORE", "k", ttl, value, "REPLACE", option});
  };
  CHECK(run("5000", "REPLACE") == "+OK");
  CHECK(h.Run("PTTL k") == ":5000");
  CHECK(run("0", "ABSTTL") == "+OK");
  CHECK(h.Run("PTTL k") == ":-1");
  CHECK(run("9223372036854775807", "REPLACE") == "-ERR invalid expire time in 'restore' command");
  CHECK(h.Run("EXISTS k") == ":1");
  CHECK(run("9223372036854775807", "ABSTTL") == "+OK");
  CHECK(h.Run("EXISTS k") == ":1");
  // An instant that has passed removes the key.
  CHECK(run("5", "ABSTTL") == "+OK");
  CHECK(h.Run("EXISTS k") == ":0");
  CHECK(run("5", "ABSTTL") == "+OK");
  CHECK(h.Run("EXISTS k") == ":0");
}

TEST_CASE("dump and restore: each type, small and large") {
  CommandHarness h;
  std::vector<std::string> large{"RPUSH", "large-list"};
  std::vector<std::string> fields{"HSET", "large-hash"};
  std::vector<std::string> members{"SADD", "large-set"};
  std::vector<std::string> scores{"ZADD", "large-zset"};
  std::vector<std::string> hits{"ACTIVE.TOUCH", "large-active"};
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i);
    large.push_back("element:" + n);
    fields.insert(fields.end(), {"field:" + n, n});
    members.push_back("member:" + n);
    scores.insert(scores.end(), {n + ".5", "member:" + n});
    hits.push_back("id:" + n);
  }
  for (const auto& words : {large, fields, members, scores, hits}) h.Run(words);
  h.Run("SET int -129");
  h.Run("SET big 9223372036854775807");
  h.Run(std::vector<std::string>{"SET", "text", std::string(100'000, 'x')});
  h.Run("SET empty x");
  h.Run("SETRANGE empty 0 \"\"");
  h.Run("RPUSH list 1 2 -3 65536");
  h.Run("HSET hash a 1 b two");
  h.Run("SADD intset 1 2 3");
  h.Run("ZADD zset -inf a 1.5 b inf c");
  h.Run("PFADD hll a b c");
  h.Run("HITS.ADD hits 1h COUNT 3");
  h.Run("LIMIT.TAKE limit SLIDING 3 1h BUCKET 5 1 1m");
  h.Run("ACTIVE.TOUCH active ann bob");
  CHECK(h.Run("QUOTA.SETLIMIT book sku action 3 1d") == ":1");
  size_t keys = 0;
  std::vector<std::string> names;
  uint64_t position = 0;
  Keyspace& keyspace = h.engine.database(0);
  while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
    keyspace.ForEach(*segment, [&](const auto& entry) { names.emplace_back(entry.key()); });
  }
  for (const std::string& name : names) {
    INFO(name);
    const std::string payload = Dumped(h, name);
    const std::string ttl = h.Run("PTTL " + name);
    CHECK(Restore(h, payload, "copy") == "+OK");
    CHECK(Dumped(h, "copy").size() == payload.size());
    CHECK(h.Run("TYPE copy") == h.Run("TYPE " + name));
    const std::string content = Content(h, name);
    CHECK(content.size() > 1);
    CHECK(content.front() != '-');
    CHECK(Content(h, "copy") == content);
    // HITS and LIMIT have deadlines of their own.
    CHECK(h.Run("PTTL copy") == ttl);
    ++keys;
  }
  CHECK(keys >= 18);
}

TEST_CASE("restore: what is logged makes the same key again, and says nothing else") {
  CommandHarness h;
  EffectFollower follower(h);
  h.Run("HITS.ADD hits 1h COUNT 3");
  const std::string hits = Dumped(h, "hits");
  const std::string value = Payload(Byte(0) + Str("v"));
  const std::string instant = h.Run("PEXPIRETIME hits").substr(1);
  const std::string now = std::to_string(h.now());
  h.Effects();
  const auto run = [&](const std::vector<std::string>& words) {
    CHECK(h.Run(words) == "+OK");
    return absl::StrJoin(h.Effects(), "; ");
  };
  CHECK(Restore(h, hits, "copy") == "+OK");
  CHECK(absl::StrJoin(h.Effects(), "; ") ==
        "RESTORE copy " + instant + " " + hits + " REPLACE ABSTTL");
  CHECK(run({"RESTORE", "k", "5000", value, "FREQ", "7"}) ==
        "RESTORE k " + std::to_string(h.now() + 5000) + " " + value + " REPLACE ABSTTL");
  CHECK(follower.Run(0, {"GET", "k"}) == "\"v\"");
  CHECK(follower.Run(0, {"PEXPIRETIME", "k"}) == h.Run("PEXPIRETIME k"));
  CHECK(follower.Run(0, {"HITS.SHOW", "copy"}) == h.Run("HITS.SHOW copy"));
  CHECK(follower.Run(0, {"PEXPIRETIME", "copy"}) == ":" + instant);
  CHECK(run({"RESTORE", "none", now, value, "ABSTTL"}).empty());
  CHECK(run({"RESTORE", "k", now, value, "ABSTTL", "REPLACE"}) == "DEL k");
  CHECK(follower.Run(0, {"EXISTS", "k", "none"}) == ":0");
}

TEST_CASE("restore: hits that can no longer count are not there") {
  CommandHarness h;
  h.Run("HITS.ADD hits 1s");
  const std::string payload = Dumped(h, "hits");
  h.PassTo(h.now() + 5000);
  h.Effects();
  CHECK(Restore(h, payload) == "+OK");
  CHECK(h.Run("EXISTS k") == ":0");
  CHECK(absl::StrJoin(h.Effects(), "; ").find("RESTORE") == std::string::npos);
}

TEST_CASE("restore: native values with a broken body are refused") {
  CommandHarness h;
  h.Run("HITS.ADD hits 1h COUNT 3");
  h.Run("LIMIT.TAKE limit SLIDING 3 1h");
  h.Run("ACTIVE.TOUCH active ann");
  h.Run("QUOTA.SETLIMIT quota sku action 3 1d");
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (const std::string name : {"hits", "limit", "active", "quota"}) {
    const std::string payload = Dumped(h, name);
    const std::string body = payload.substr(0, payload.size() - 10);
    for (size_t cut = 0; cut < body.size(); ++cut) {
      INFO(name << " cut at " << cut);
      CHECK(Restore(h, Payload(body.substr(0, cut))).starts_with("-ERR Bad data format"));
    }
    CHECK(Restore(h, Payload(body)) == "+OK");
    // Where it is whole by chance it is another value; else the old one stays.
    for (int i = 0; i < 3000; ++i) {
      std::string broken = body;
      for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
        broken[1 + random.Below(broken.size() - 1)] = static_cast<char>(random.Below(256));
      }
      const std::string before = Dumped(h, "k");
      const std::string reply = Restore(h, Payload(broken));
      INFO(name << ": " << reply);
      CHECK((reply == "+OK" || reply.starts_with("-ERR Bad data format")));
      if (reply == "+OK") {
        CHECK(Restore(h, Payload(body)) == "+OK");
      } else {
        CHECK(Dumped(h, "k") == before);
      }
    }
    h.Run("DEL k");
  }
}

}  // namespace tally::server::serialization_commands_test
