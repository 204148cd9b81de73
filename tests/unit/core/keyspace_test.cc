#include "core/keyspace/keyspace.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/bytes/number.h"
#include "core/bytes/text.h"
#include "random_seed.h"

namespace tally::keyspace_test {
namespace {

using test::SeededRandom;

std::string Text(const Keyspace::Entry& entry) {
  if (!entry.is_integer()) return std::string(entry.bytes());
  std::string text;
  AppendInt64(text, entry.integer());
  return text;
}

struct Recorder : Keyspace::Observer {
  void OnExpired(Keyspace&, std::string_view key) override { expired.emplace_back(key); }
  std::vector<std::string> expired;
};

struct ChangeCounter : Keyspace::SnapshotObserver {
  void BeforeChange(Keyspace&, Keyspace::Segment& segment, std::string_view,
                    const Keyspace::Entry&) override {
    ++changes;
    segment.epoch = 1;
  }
  void BeforeValueChange(void*, ByteRange) override {}
  bool KeepValue(void*) override { return false; }
  int changes = 0;
};

void ExpireAll(Keyspace& keyspace, int64_t now, int64_t interval_ms) {
  while (keyspace.ExpireSegment(now, interval_ms)) {
  }
}

struct Modelled {
  std::string value;
  int64_t deadline;
};

void RequireSame(const Keyspace::Entry& entry, const Modelled* known) {
  REQUIRE(static_cast<bool>(entry) == (known != nullptr));
  if (known == nullptr) return;
  REQUIRE(Text(entry) == known->value);
  REQUIRE(entry.deadline_ms() == known->deadline);
}

TEST_CASE("a keyspace of strings agrees with a map of values and deadlines") {
  SeededRandom random;
  INFO("seed " << random.seed());
  Reclaimer reclaimer;
  Keyspace keyspace(random.Next(), reclaimer);
  Recorder recorder;
  keyspace.set_observer(&recorder);
  std::map<std::string, Modelled> model;
  int64_t now = 1'700'000'000'000;
  for (int step = 0; step < 40000; ++step) {
    now += random.Between(0, 20);
    const std::string key = "k" + std::to_string(random.Below(3000));
    auto known = model.find(key);
    if (known != model.end() && known->second.deadline <= now) {
      model.erase(known);
      known = model.end();
    }
    const int64_t deadline = random.OneIn(3) ? kNoDeadline : now + random.Between(1, 60000);
    switch (random.Below(8)) {
      case 0: {
        const std::string value(random.Below(300), 'v');
        keyspace.SetString(key, value, deadline, now);
        model[key] = {value, deadline};
        break;
      }
      case 1: {
        const int64_t value = static_cast<int64_t>(random.Next());
        const bool keep = random.OneIn(2);
        const int64_t kept = known == model.end() ? kNoDeadline : known->second.deadline;
        keyspace.ExpireIfDue(key, now);
        keyspace.SetInteger(key, value, keep ? Keyspace::kKeepDeadline : deadline, now);
        model[key] = {std::to_string(value), keep ? kept : deadline};
        break;
      }
      case 2:
        if (const auto entry = keyspace.FindForWrite(key, now)) {
          keyspace.MutableString(entry).Append("tail");
          model[key].value += "tail";
        }
        break;
      case 3:
        if (const auto entry = keyspace.FindForWrite(key, now)) {
          REQUIRE(keyspace.SetDeadline(entry, deadline).deadline_ms() == deadline);
          model[key].deadline = deadline;
        }
        break;
      case 4:
        if (const auto entry = keyspace.FindForWrite(key, now)) {
          keyspace.Erase(entry);
          model.erase(key);
        }
        break;
      case 5:
        ExpireAll(keyspace, now, 0);
        break;
      default:
        RequireSame(keyspace.Find(key, now), known == model.end() ? nullptr : &known->second);
    }
  }
  now += 100'000;
  ExpireAll(keyspace, now, 200);
  std::erase_if(model, [&](const auto& row) { return row.second.deadline <= now; });
  REQUIRE(keyspace.size() == model.size());
  REQUIRE(keyspace.expires() == 0);
}

TEST_CASE("active expiry removes exactly what is due, and reports it") {
  Reclaimer reclaimer;
  Keyspace keyspace(1, reclaimer);
  Recorder recorder;
  keyspace.set_observer(&recorder);
  for (int i = 0; i < 20000; ++i) keyspace.SetInteger("stay" + std::to_string(i), i, 1'000'000, 0);
  for (int i = 0; i < 100; ++i) keyspace.SetInteger("go" + std::to_string(i), i, 500 + i, 0);
  while (keyspace.ExpireSegment(499)) {
  }
  REQUIRE(recorder.expired.empty());
  for (int64_t now = 500; now <= 1000; now += 10) {
    while (keyspace.ExpireSegment(now)) {
    }
  }
  const std::set<std::string> expired(recorder.expired.begin(), recorder.expired.end());
  REQUIRE(expired.size() == 100);
  REQUIRE(recorder.expired.size() == 100);
  REQUIRE(keyspace.size() == 20000);
}

TEST_CASE("the observer sees each segment once before it changes in an epoch") {
  Reclaimer reclaimer;
  Keyspace keyspace(1, reclaimer);
  ChangeCounter counter;
  for (int i = 0; i < 5000; ++i) keyspace.SetInteger(std::to_string(i), i, kNoDeadline, 0);
  REQUIRE(counter.changes == 0);
  keyspace.BeginSnapshot(1, counter);
  keyspace.FindForWrite("1", 0);
  keyspace.FindForWrite("1", 0);
  REQUIRE(counter.changes == 1);
  for (int i = 0; i < 5000; ++i) keyspace.SetInteger(std::to_string(i), i, kNoDeadline, 0);
  int segments = 0;
  for (uint64_t position = 0; keyspace.NextSegment(position) != nullptr;) ++segments;
  REQUIRE(counter.changes == segments);
}

TEST_CASE("clear and swap leave both keyspaces whole") {
  Reclaimer reclaimer;
  Keyspace a(1, reclaimer);
  Keyspace b(1, reclaimer);
  for (int i = 0; i < 5000; ++i) {
    a.SetString(std::to_string(i), std::string(500, 'x'), i % 2 ? 1000 : kNoDeadline, 0);
  }
  a.Swap(b);
  REQUIRE(a.size() == 0);
  REQUIRE(b.size() == 5000);
  REQUIRE(b.expires() == 2500);
  for (int i = 0; i < 5000; ++i) a.SetInteger(std::to_string(i), i, 10, 0);
  while (b.ExpireSegment(1000)) {
  }
  REQUIRE(b.size() == 2500);
  b.Clear();
  REQUIRE(b.size() == 0);
  REQUIRE_FALSE(reclaimer.empty());
  int slices = 1;
  while (!reclaimer.FreeSome(100)) ++slices;
  REQUIRE(slices > 10);
  REQUIRE(b.Find("1", 0).operator bool() == false);
  REQUIRE(a.size() == 5000);
}

TEST_CASE("a small budget frees something at each call") {
  Reclaimer reclaimer;
  Keyspace keyspace(1, reclaimer);
  for (int i = 0; i < 5000; ++i) keyspace.SetInteger(std::to_string(i), i, kNoDeadline, 0);
  keyspace.Clear();
  int calls = 1;
  while (!reclaimer.FreeSome(1) && calls < 100'000) ++calls;
  REQUIRE(reclaimer.empty());
}

TEST_CASE("a counter with a deadline and a 15-byte key stays within 56 bytes") {
  Reclaimer reclaimer;
  Keyspace keyspace(1, reclaimer);
  char key[16];
  for (int i = 0; i < 300000; ++i) {
    std::snprintf(key, sizeof key, "koala:%09d", i);
    keyspace.SetInteger({key, 15}, i, 1'000'000 + i, 0);
    if (i > 50000 && i % 5000 == 0) REQUIRE(keyspace.table_bytes() <= keyspace.size() * 56);
  }
}

TEST_CASE("packed values are updated in place or moved, with their deadlines") {
  SeededRandom random;
  INFO("seed " << random.seed());
  Reclaimer reclaimer;
  Keyspace keyspace(random.Next(), reclaimer);
  std::map<std::string, Modelled> model;
  const int64_t now = 1'700'000'000'000;
  for (int step = 0; step < 20'000; ++step) {
    const std::string key = "k" + std::to_string(random.Below(2'000));
    const std::string value(random.Below(random.OneIn(2) ? 8 : 150),
                            static_cast<char>('a' + random.Below(26)));
    const int64_t deadline = random.OneIn(5) ? kNoDeadline : now + random.Between(1, 60'000);
    if (const auto entry = keyspace.FindForWrite(key, now)) {
      keyspace.UpdatePacked(entry, value, deadline, now);
    } else {
      keyspace.SetPacked(key, Type::kLimit, value, deadline, now);
    }
    model[key] = {value, deadline};
  }
  size_t dated = 0;
  for (const auto& [key, modelled] : model) {
    const auto entry = keyspace.Peek(key, now);
    REQUIRE(static_cast<bool>(entry));
    REQUIRE(entry.type() == Type::kLimit);
    REQUIRE(entry.bytes() == modelled.value);
    REQUIRE(entry.deadline_ms() == modelled.deadline);
    dated += modelled.deadline != kNoDeadline ? 1 : 0;
  }
  REQUIRE(keyspace.expires() == dated);
  // Those that were given an earlier deadline are found when it comes.
  ExpireAll(keyspace, now + 30'000, 0);
  for (const auto& [key, modelled] : model) {
    REQUIRE(static_cast<bool>(keyspace.Peek(key, now)) == (modelled.deadline > now + 30'000));
  }
}

TEST_CASE("keys are counted by their types through all that changes them") {
  SeededRandom random;
  Reclaimer reclaimer;
  Keyspace keyspaces[] = {{1, reclaimer}, {1, reclaimer}};
  for (int i = 0; i < 4000; ++i) {
    Keyspace& keyspace = keyspaces[random.Below(2)];
    const std::string key = std::to_string(random.Below(60));
    const int64_t deadline = random.OneIn(2) ? kNoDeadline : i + random.Between(1, 50);
    const Keyspace::Entry entry = keyspace.FindForWrite(key, i);
    const uint64_t action = random.Below(8);
    if (action < 2) keyspace.SetString(key, "text", deadline, i);
    if (action == 2) keyspace.SetInteger(key, i, deadline, i);
    if (action == 3) keyspace.SetPacked(key, Type::kLimit, "abc", deadline, i);
    if (action == 4 && entry) keyspace.Erase(entry);
    if (action == 5 && entry && entry.type() == Type::kString) keyspace.MutableString(entry);
    if (action == 6) ExpireAll(keyspace, i, 1);
    if (random.OneIn(200)) keyspaces[0].Swap(keyspaces[1]);
    if (random.OneIn(300)) keyspace.Clear();
    if (i % 10 != 0) continue;
    for (const Keyspace& one : keyspaces) {
      size_t strings = 0;
      one.Scan(0, 1000, [&](const Keyspace::Entry& each) {
        strings += each.type() == Type::kString ? 1 : 0;
      });
      REQUIRE(one.size_of(Type::kString) == strings);
      REQUIRE(one.size_of(Type::kString) + one.size_of(Type::kLimit) == one.size());
    }
  }
}

TEST_CASE("the lag of expiry is how long something has been due") {
  Reclaimer reclaimer;
  Keyspace keyspace(1, reclaimer);
  CHECK(keyspace.expiry_lag_ms(1000) == 0);
  keyspace.SetString("a", "text", 1500, 1000);
  CHECK(keyspace.expiry_lag_ms(1499) == 0);
  CHECK(keyspace.expiry_lag_ms(1900) == 400);
  ExpireAll(keyspace, 1900, 200);
  CHECK(keyspace.expiry_lag_ms(1900) == 0);
}

}  // namespace
}  // namespace tally::keyspace_test
