#include "server/rdb/engine_sink.h"

#include <catch2/catch.hpp>
#include <limits>

#include "core/hits/hits.h"
#include "core/limit/policy_table.h"
#include "server/rdb/native_types.h"
#include "tests/unit/server/rdb_bytes.h"

namespace tally::rdb::test::engine_sink_test {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;

struct Loaded {
  UtcOnly zones;
  Engine engine{16, 7, zones};
  ValueLimits limits;
  SkippedValues skipped;
  EngineSink::Options options;
  uint64_t expired = 0;
  uint64_t empty = 0;

  // Returns the error's message, empty if there is none.
  std::string Load(std::string_view body, std::string_view magic = "REDIS0010") {
    const std::string file = File(magic, body);
    TextSource source(file);
    EngineSink sink(engine, limits, skipped, options);
    sink.set_now(kNow);
    RdbReader reader(source, sink);
    const absl::Status status = ReadAll(reader);
    expired = sink.expired();
    empty = sink.empty();
    return std::string(status.message());
  }
  std::string Lines() const {
    std::string lines;
    skipped.ForEachLine([&](std::string_view line) { StrAppend(lines, line, "\n"); });
    return lines;
  }
  Keyspace::Entry Find(std::string_view key) { return engine.database(0).Peek(key); }
};

std::string Key(int code, std::string_view key, std::string_view value) {
  return Byte(code) + Str(key).append(value);
}

std::string Until(int64_t deadline) {
  return Byte(252) + Little(static_cast<uint64_t>(deadline), 8);
}

TEST_CASE("engine sink: values, deadlines and databases", "[rdb]") {
  Loaded loaded;
  CHECK(loaded.Load(Key(0, "number", "\xc0\x07") + Key(0, "text", Str("abc")) + Until(kNow + 5) +
                    Key(0, "long", Str(std::string(300, 'x'))) +
                    Key(16, "hash", Str(Listpack({"a", "1", "b", "2"}))) + Byte(254) + Len(15) +
                    Key(1, "list", Len(2) + Str("a") + Str("7"))) == "");
  CHECK(loaded.Find("number").integer() == 7);
  CHECK(loaded.Find("text").bytes() == "abc");
  CHECK(loaded.Find("long").deadline_ms() == kNow + 5);
  CHECK(loaded.Find("hash").type() == Type::kHash);
  const Keyspace::Entry list = loaded.engine.database(15).Peek("list");
  REQUIRE(list);
  CHECK(list.heap<List>().size() == 2);
  CHECK(loaded.skipped.empty());
  CHECK(loaded.Load(Byte(254) + Len(16)) ==
        "offset 9: a database beyond those that are configured");
}

TEST_CASE("engine sink: what is there twice is an error", "[rdb]") {
  const auto error = [](std::string_view body) { return Loaded().Load(body); };
  // The keys are stored together, at the end; the offset is that of the second one.
  CHECK(error(Key(0, "k", Str("a")) + Key(0, "k", Str("b"))) ==
        "offset 20: a key that is there already: k, at offset 15");
  const std::string twice = "an element that its key has already";
  CHECK(error(Key(2, "k", Len(2) + Str("a") + Str("a"))).ends_with(twice));
  CHECK(error(Key(16, "k", Str(Listpack({"a", "1", "a", "2"})))).ends_with(twice));
  CHECK(error(Key(5, "k", Len(2) + Str("a") + Double(1) + Str("a") + Double(2))).ends_with(twice));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(error(Key(5, "k", Len(1) + Str("a") + Double(nan))).ends_with("is not a number"));
  CHECK(error(Key(12, "k", Str(Ziplist({"a", "nan"})))).ends_with("is not a number"));
  CHECK(error(Key(17, "k", Str(Listpack({"a", "-nan"})))).ends_with("is not a number"));
  CHECK(error(Key(3, "k", Len(1) + Str("a") + Byte(253))).ends_with("is not a number"));
  CHECK(error(Key(3, "k", Len(1) + Str("a") + Byte(3) + "nan")).ends_with("is not a number"));
  CHECK(error(Key(11, "k", Str(Intset({1, 1}, 2)))).ends_with("intset: its integers do not rise"));
  CHECK(error(Key(12, "k", Str(Ziplist({"a"})))).ends_with("a field or member without its value"));
}

TEST_CASE("engine sink: empty values and passed deadlines are left out", "[rdb]") {
  Loaded loaded;
  CHECK(loaded.Load(Key(1, "a", Len(0)) + Key(16, "b", Str(Listpack({}))) +
                    Key(11, "c", Str(Intset({}, 2))) + Key(12, "d", Str(Ziplist({}))) +
                    Until(kNow - 1) + Key(0, "e", Str("v")) + Until(-5) + Key(0, "f", Str("v")) +
                    Until(INT64_MIN) + Key(2, "g", Len(1) + Str("v"))) == "");
  CHECK(loaded.engine.database(0).size() == 0);
  CHECK(loaded.empty == 4);
  CHECK(loaded.expired == 3);
  loaded.options.keep_expired = true;
  CHECK(loaded.Load(Until(INT64_MIN) + Key(0, "e", Str("v"))) == "");
  CHECK(loaded.Find("e").deadline_ms() == INT64_MIN + 1);
}

TEST_CASE("engine sink: fields with deadlines stop or lose them", "[rdb]") {
  const std::string later = StrCat(kNow + 9);
  const std::string mixed = Byte(25) + Str("k") + Little(0, 8) +
                            Str(Listpack({"a", "1", "0", "gone", "2", "99", "dated", "3", later}));
  Loaded loaded;
  CHECK(loaded.Load(mixed, "REDIS0012") == "");
  CHECK(loaded.engine.database(0).size() == 0);
  CHECK(loaded.Lines() == "hash whose fields have deadlines: 1: k\n");
  Loaded dropped;
  dropped.options.drop_field_deadlines = true;
  CHECK(dropped.Load(mixed, "REDIS0012") == "");
  CHECK(dropped.skipped.empty());
  Hash hash(7);
  REQUIRE(hash.LoadPacked(dropped.Find("k").bytes()));
  CHECK(hash.size() == 2);
  CHECK(hash.Find("dated"));
  CHECK_FALSE(hash.Find("gone"));
}

TEST_CASE("engine sink: access marks", "[rdb]") {
  Loaded loaded;
  CHECK(loaded.Load(Byte(248) + Len(100) + Key(0, "idle", Str("v")) + Byte(249) + Byte(9) +
                    Key(0, "often", Str("v"))) == "");
  CHECK(IdleSeconds(loaded.Find("idle").access(), kNow) == 100);
  CHECK(IdleSeconds(loaded.Find("often").access(), kNow) == 0);
  Loaded frequent;
  const AccessTracking tracking{.by_frequency = true};
  frequent.engine.set_access_tracking(tracking);
  CHECK(frequent.Load(Byte(249) + Byte(200) + Key(0, "often", Str("v"))) == "");
  CHECK(FrequencyOf(frequent.Find("often").access(), tracking, kNow) == 200);
}

class Created final : public Keyspace::Observer {
 public:
  int created = 0;
  void OnCreated(Keyspace&, Type, std::string_view) override { ++created; }
  void OnExpired(Keyspace&, std::string_view) override {}
};

TEST_CASE("engine sink: a key that is replaced is removed and created", "[rdb]") {
  Loaded loaded;
  const AccessTracking tracking{.by_frequency = true};
  loaded.engine.set_access_tracking(tracking);
  Keyspace& keyspace = loaded.engine.database(0);
  // More than are stored at once.
  constexpr int kKeys = 100;
  std::string strings;
  std::string lists;
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = StrCat("k", i);
    strings += Until(kNow + 1000) + Byte(249) + Byte(200) + Key(0, key, Str("old"));
    lists += Key(1, key, Len(2) + Str("a") + Str("b"));
  }
  CHECK(loaded.Load(strings) == "");
  CHECK(FrequencyOf(keyspace.Peek("k7").access(), tracking, kNow) == 200);
  CHECK(loaded.Load(lists).find("a key that is there already: k0") != std::string::npos);
  loaded.options.replace = true;
  Created created;
  keyspace.set_observer(&created);
  CHECK(loaded.Load(strings + lists) == "");
  keyspace.set_observer(nullptr);
  CHECK(created.created == 2 * kKeys);
  CHECK(keyspace.size() == kKeys);
  for (int i = 0; i < kKeys; ++i) {
    const Keyspace::Entry entry = keyspace.Peek(StrCat("k", i));
    REQUIRE(entry);
    REQUIRE(entry.type() == Type::kList);
    REQUIRE(entry.deadline_ms() == kNoDeadline);
    // Nothing of the old one's use is left.
    REQUIRE(FrequencyOf(entry.access(), tracking, kNow) < 10);
  }
}

uint64_t NativeId(std::string_view name) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  uint64_t id = 0;
  for (const char letter : name) id = id << 6 | kLetters.find(letter);
  return id << 10 | kNativeVersion;
}

std::string Part(std::string_view bytes) { return Len(5) + Str(bytes); }

TEST_CASE("engine sink: values of tally.so, packed and in runs", "[rdb]") {
  Hits hits;
  hits.Clear();
  hits.Add(1, 60'000, kNow, kNow);
  std::string packed;
  REQUIRE(hits.SavePacked(packed));
  const std::string head = Byte(7) + Str("k") + Len(NativeId("tallyhits"));
  const std::string block = Byte(static_cast<int>(packed.size())) + packed;
  Loaded loaded;
  CHECK(loaded.Load(head + Part(block + std::string(5, '\0')) + Len(0)) == "");
  REQUIRE(loaded.Find("k"));
  CHECK(loaded.Find("k").type() == Type::kHits);
  CHECK(loaded.Find("k").bytes() == packed);

  std::string run;
  CHECK(OperationsOf(Type::kHits).save(&hits, 0, 1000, run) == 0);
  Loaded heap;
  CHECK(heap.Load(head + Part("\xff" + run) + Len(0)) == "");
  CHECK(heap.Find("k").is_heap());

  const std::string malformed = "a value of tally.so is malformed";
  CHECK(Loaded().Load(head + Part(block + "x") + Len(0)).ends_with(malformed));
  CHECK(Loaded().Load(head + Part("\xff garbage") + Len(0)).ends_with(malformed));
  CHECK(Loaded().Load(head + Part("") + Len(0)).ends_with(malformed));
  CHECK(
      Loaded().Load(head + Part("\xff" + run) + Part("\xff" + run) + Len(0)).ends_with(malformed));
  CHECK(Loaded().Load(head + Len(0)).ends_with("a value of tally.so ends early"));
  Loaded late;
  CHECK(late.Load(Until(5) + head + Part(block) + Len(0)) == "");
  CHECK(late.expired == 1);
}

TEST_CASE("engine sink: policies of tally.so come along", "[rdb]") {
  std::string policy;
  PolicyTable::Save("two", {"FIXED", "2", "1m"}, policy);
  const std::string aux = Byte(247) + Len(NativeId("tallylimt")) + Len(2) + Len(1);
  Loaded loaded;
  CHECK(loaded.Load(aux + Len(2) + Len(1) + Part(policy) + Len(0)) == "");
  CHECK(loaded.engine.policies().Find("two") != nullptr);
  CHECK_FALSE(Loaded().Load(aux + Len(2) + Len(2) + Part(policy) + Len(0)).empty());
  CHECK_FALSE(Loaded().Load(aux + Part(policy) + Len(0)).empty());
}

TEST_CASE("engine sink: what has no type here is listed by kind", "[rdb]") {
  Loaded loaded;
  std::string body = Byte(245) + Str("#!lua name=lib\n");
  for (int i = 0; i < 12; ++i) {
    body += Key(7, StrCat("json", i), Len(NativeId("ReJSON-RL")) + Part("x") + Len(0));
  }
  CHECK(loaded.Load(body) == "");
  CHECK(loaded.Lines() ==
        "function library: 1: lib\nvalue of the module type ReJSON-RL: 12: json0, json1, json2, "
        "json3, json4, json5, json6, json7, json8, json9, ...\n");
}

}  // namespace
}  // namespace tally::rdb::test::engine_sink_test
