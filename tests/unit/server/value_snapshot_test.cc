// Large values are saved as they were when the walk began, however they change meanwhile.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/active/active_set.h"
#include "core/bytes/str_cat.h"
#include "core/bytes/text.h"
#include "core/hash/hash.h"
#include "core/hits/hits.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/zset/zset.h"
#include "random_seed.h"
#include "scale.h"
#include "server/walked_engine.h"

namespace tally::server::value_snapshot_test {
namespace {

using test::SeededRandom;

constexpr int64_t kNow = Walked::kBegin;
constexpr size_t kElements = 20'000;
constexpr int64_t kWindow = 30 * 86'400'000LL;

using Contents = std::vector<std::string>;

Walked::Form AnyForm() { return GENERATE(Walked::Form::kBase, Walked::Form::kRdb); }

void AddFields(const Hash& hash, Contents& contents) {
  hash.ForEach([&](std::string_view field, std::string_view value) {
    contents.push_back(StrCat(field, "=", value));
  });
}

// What a value holds, whichever way it is held.
Contents ContentsOf(const Keyspace::Entry& entry) {
  Contents contents;
  switch (entry.type()) {
    case Type::kString:
      contents.emplace_back(entry.is_integer() ? StrCat(entry.integer()) : entry.bytes());
      break;
    case Type::kHash:
      if (entry.is_heap()) {
        AddFields(entry.heap<Hash>(), contents);
      } else {
        Hash packed(1);
        REQUIRE(packed.LoadPacked(entry.bytes()));
        AddFields(packed, contents);
      }
      std::sort(contents.begin(), contents.end());
      break;
    case Type::kSet:
      entry.heap<Set>().ForEach([&](std::string_view member) {
        contents.emplace_back(member);
        return true;
      });
      std::sort(contents.begin(), contents.end());
      break;
    case Type::kZSet: {
      const ZSet& set = entry.heap<ZSet>();
      set.ForEach({0, set.size()}, false, [&](std::string_view member, double score) {
        contents.push_back(StrCat(member, " ", static_cast<int64_t>(score)));
        return true;
      });
      break;
    }
    case Type::kList: {
      const List& list = entry.heap<List>();
      list.ForEach(0, list.size(), [&](std::string_view text) {
        contents.emplace_back(text);
        return true;
      });
      break;
    }
    case Type::kHits:
      for (const int64_t count :
           entry.heap<Hits>().Range(kNow, kNow + int64_t{kElements} * 10, 100, kNow)) {
        contents.push_back(StrCat(count));
      }
      break;
    case Type::kActive: {
      ActiveSet& set = entry.heap<ActiveSet>();
      uint64_t cursor = 0;
      do {
        cursor = set.Scan(cursor, 1000, [&](std::string_view id, const ActiveSet::Sighting& seen) {
          contents.push_back(
              StrCat(id, " ", seen.number, " ", seen.first_seen_ms, " ", seen.last_seen_ms));
        });
      } while (cursor != 0);
      for (int64_t day = 0; day < 4; ++day) {
        const int32_t number = set.DayNumber(kNow + day * 86'400'000);
        const auto figures = set.DayOf(number, kNow + 4 * int64_t{86'400'000});
        contents.push_back(StrCat(figures.active, " ", figures.fresh, " ", figures.peak));
      }
      break;
    }
    default:
      FAIL("a type that no test makes");
  }
  return contents;
}

std::map<std::string, Contents> ContentsOf(Engine& engine) {
  std::map<std::string, Contents> all;
  uint64_t position = 0;
  while (Keyspace::Segment* segment = engine.database(0).NextSegment(position)) {
    engine.database(0).ForEach(*segment, [&](const Keyspace::Entry& entry) {
      all.emplace(StrCat(entry.key(), "@", entry.deadline_ms()), ContentsOf(entry));
    });
  }
  return all;
}

// A few are longer than a run of the snapshot, and fewer longer than one of its blocks.
std::string Member(SeededRandom& random) {
  const bool is_long = random.OneIn(3000);
  const uint64_t below = is_long ? uint64_t{100} << random.Below(14) : 20;
  return StrCat("member:", random.Below(kElements * 2), std::string(random.Below(below), 'x'));
}

// Short, or longer than a run.
std::string Key(SeededRandom& random) {
  return StrCat("value", std::string(random.OneIn(3) ? 100'000 + random.Below(500'000) : 0, 'k'));
}

struct Kind {
  const char* name;
  std::function<void(Keyspace&, const std::string& key, SeededRandom&)> make;
  std::function<void(Keyspace&, const Keyspace::Entry&, SeededRandom&)> change;
};

void ChangeHash(Keyspace&, const Keyspace::Entry& entry, SeededRandom& random) {
  Hash& hash = entry.heap<Hash>();
  const std::string field = StrCat("field:", random.Below(kElements * 2));
  switch (random.Below(3)) {
    case 0:
      hash.Set(field, StrCat("y", Member(random)), {});
      break;
    case 1:
      hash.Erase(field);
      break;
    default:
      hash.Increment("counter", 1, {});
  }
}

void ChangeSet(Keyspace&, const Keyspace::Entry& entry, SeededRandom& random) {
  Set& set = entry.heap<Set>();
  random.OneIn(2) ? set.Insert(Member(random), {}) : set.Erase(Member(random));
}

void ChangeZSet(Keyspace&, const Keyspace::Entry& entry, SeededRandom& random) {
  ZSet& set = entry.heap<ZSet>();
  switch (random.Below(8)) {
    case 0:
      if (set.size() > 10) set.PopMin();
      break;
    case 1:
      if (set.size() > 10) set.PopMax();
      break;
    case 2: {
      const size_t from = random.Below(set.size());
      set.EraseRange({from, std::min(set.size(), from + random.Below(300))});
      break;
    }
    case 3:
      set.Erase(set.At(random.Below(set.size())).first);
      break;
    case 4:
      set.Set(set.At(random.Below(set.size())).first, static_cast<double>(random.Below(5000)), {});
      break;
    default:
      set.Set(Member(random), static_cast<double>(random.Below(5000)), {});
  }
}

void ChangeList(Keyspace&, const Keyspace::Entry& entry, SeededRandom& random) {
  List& list = entry.heap<List>();
  const size_t size = list.size();
  const std::string text = list.encoding() == "intring" && !random.OneIn(200)
                               ? StrCat(random.Below(1000))
                               : Member(random);
  switch (random.Below(12)) {
    case 0:
      for (int i = 0; i < 300; ++i) list.PushFront(text);
      break;
    case 1:
      for (int i = 0; i < 300; ++i) list.PushBack(text);
      break;
    case 2:
      list.Trim(random.Below(std::min<size_t>(size, 1000)), size);
      break;
    case 3:
      list.Trim(0, size - random.Below(std::min<size_t>(size, 1000)));
      break;
    case 4:
      list.Set(random.Below(size), text);
      break;
    case 5:
      list.Insert(random.Below(size), text);
      break;
    case 6:
      for (int i = 0; i < 50 && list.size() > 10; ++i) list.Erase(random.Below(list.size()));
      break;
    case 7:
      list.RemoveMatching(random.OneIn(2) ? 0 : 2, list.At(random.Below(size)));
      break;
    case 8:
      list.PopFront();
      break;
    case 9:
      list.PopBack();
      break;
    case 10:
      if (random.OneIn(20)) list.Trim(size / 2, std::min(size, size / 2 + 10));
      break;
    default:
      list.PushBack(text);
  }
  if (list.empty()) list.PushBack("1");
}

const Kind kKinds[] = {
    {"hash",
     [](Keyspace& keyspace, const std::string& key, SeededRandom&) {
       Hash& hash = keyspace.SetHeap(key, new Hash(1), kNow + 5, kNow);
       for (size_t i = 0; i < kElements; ++i) hash.Set(StrCat("field:", i), StrCat("v", i), {});
     },
     ChangeHash},
    {"set",
     [](Keyspace& keyspace, const std::string& key, SeededRandom& random) {
       Set& set = keyspace.SetHeap(key, new Set(1), kNoDeadline, kNow);
       while (set.size() < kElements) set.Insert(Member(random), {});
     },
     ChangeSet},
    {"zset",
     [](Keyspace& keyspace, const std::string& key, SeededRandom& random) {
       ZSet& set = keyspace.SetHeap(key, new ZSet(1), kNoDeadline, kNow);
       while (set.size() < kElements) {
         set.Set(Member(random), static_cast<double>(random.Below(5000)), {});
       }
     },
     ChangeZSet},
    {"list of strings",
     [](Keyspace& keyspace, const std::string& key, SeededRandom& random) {
       List& list = keyspace.SetHeap(key, new List, kNoDeadline, kNow);
       while (list.size() < kElements) list.PushBack(Member(random));
     },
     ChangeList},
    {"list of integers",
     [](Keyspace& keyspace, const std::string& key, SeededRandom& random) {
       List& list = keyspace.SetHeap(key, new List, kNoDeadline, kNow);
       while (list.size() < kElements) list.PushBack(StrCat(random.Below(1000)));
     },
     ChangeList},
    {"string",
     [](Keyspace& keyspace, const std::string& key, SeededRandom&) {
       keyspace.SetString(key, std::string(1'000'000, 'a'), kNoDeadline, kNow);
     },
     [](Keyspace& keyspace, const Keyspace::Entry& entry, SeededRandom&) {
       keyspace.MutableString(entry).Append("tail");
     }},
    {"active",
     [](Keyspace& keyspace, const std::string& key, SeededRandom&) {
       ActiveSet& set = keyspace.SetHeap(key, new ActiveSet(1), kNoDeadline, kNow);
       for (size_t i = 0; i < kElements; ++i) {
         const std::string id = StrCat("id:", i);
         const std::string_view ids[] = {id};
         set.Touch(ids, kNow + static_cast<int64_t>(i), kNow + static_cast<int64_t>(i));
       }
     },
     [](Keyspace&, const Keyspace::Entry& entry, SeededRandom& random) {
       ActiveSet& set = entry.heap<ActiveSet>();
       const std::string id = StrCat("id:", random.Below(kElements * 2));
       const std::string_view ids[] = {id};
       const int64_t at = kNow + static_cast<int64_t>(random.Below(3 * 86'400'000));
       random.OneIn(10) ? static_cast<void>(set.Forget(id))
                        : static_cast<void>(set.Touch(ids, at, at));
     }},
    {"hits",
     [](Keyspace& keyspace, const std::string& key, SeededRandom& random) {
       Hits& hits = keyspace.SetHeap(key, new Hits, kNoDeadline, kNow);
       for (size_t i = 0; i < kElements; ++i) {
         hits.Add(1, kWindow, kNow + static_cast<int64_t>(i * 10 + random.Below(10)), kNow);
       }
     },
     [](Keyspace&, const Keyspace::Entry& entry, SeededRandom& random) {
       const int64_t at = kNow + static_cast<int64_t>(random.Below(kElements * 10));
       entry.heap<Hits>().Add(1, kWindow, at, kNow);
     }},
};

}  // namespace

TEST_CASE("a large value of each kind is saved as it was when the walk began") {
  const Walked::Form form = AnyForm();
  for (const Kind& kind : kKinds) {
    SeededRandom random;
    INFO(kind.name << ", seed " << random.seed());
    for (uint64_t round = 0; round < test::Scaled(1); ++round) {
      Walked walked(form);
      const std::string key = Key(random);
      kind.make(walked.keyspace(), key, random);
      const std::string other = "other";
      kind.make(walked.keyspace(), other, random);
      const auto before = ContentsOf(walked.engine);
      walked.Begin();
      size_t steps = 0;
      const size_t begun = random.Below(4);
      const size_t dropped = random.Below(60);
      do {
        for (size_t i = random.Below(5); ++steps >= begun && i > 0; --i) {
          const std::string& name = random.OneIn(3) ? other : key;
          const Keyspace::Entry entry = walked.keyspace().FindForWrite(name, kNow);
          if (!entry) break;
          kind.change(walked.keyspace(), entry, random);
          if (steps == dropped) {
            walked.keyspace().Erase(walked.keyspace().FindForWrite(name, kNow));
          }
        }
      } while (walked.Step());
      CHECK(steps > 2);
      Engine loaded(2, 7, walked.zones);
      walked.LoadInto(loaded);
      REQUIRE(ContentsOf(loaded) == before);
      // And once more, as it is now.
      const auto after = ContentsOf(walked.engine);
      walked.Begin();
      while (walked.Step()) {
      }
      Engine reloaded(2, 7, walked.zones);
      walked.LoadInto(reloaded);
      REQUIRE(ContentsOf(reloaded) == after);
    }
  }
}

TEST_CASE("a walk that is given up in the middle of a value leaves the value as it is") {
  const Walked::Form form = AnyForm();
  for (const Kind& kind : kKinds) {
    SeededRandom random;
    INFO(kind.name << ", seed " << random.seed());
    Walked walked(form);
    kind.make(walked.keyspace(), "value", random);
    walked.Begin();
    walked.Step();
    walked.Step();
    for (int i = 0; i < 20; ++i) {
      kind.change(walked.keyspace(), walked.keyspace().FindForWrite("value", kNow), random);
    }
    walked.walk = nullptr;
    kind.change(walked.keyspace(), walked.keyspace().FindForWrite("value", kNow), random);
    const auto before = ContentsOf(walked.engine);
    walked.Begin();
    while (walked.Step()) {
    }
    Engine loaded(2, 7, walked.zones);
    walked.LoadInto(loaded);
    REQUIRE(ContentsOf(loaded) == before);
  }
}

TEST_CASE("many values of middling size in a segment, and keys that come, go and change") {
  SeededRandom random;
  INFO("seed " << random.seed());
  Walked walked(AnyForm());
  Keyspace& keyspace = walked.keyspace();
  const auto key = [&] { return StrCat("key", random.Below(1500)); };
  const auto put = [&](const std::string& name) {
    if (random.OneIn(3)) return keyspace.SetInteger(name, 1, kNoDeadline, kNow);
    if (random.OneIn(3)) {
      return keyspace.SetString(name, std::string(random.Below(600), 's'), kNoDeadline, kNow);
    }
    Hash& hash = keyspace.SetHeap(name, new Hash(1), kNow + 100'000, kNow);
    for (size_t i = 1 + random.Below(300); i > 0; --i) hash.Set(StrCat("f", i), "v", {16, 64});
  };
  for (int i = 0; i < 1000; ++i) put(key());
  const auto before = ContentsOf(walked.engine);
  walked.Begin();
  do {
    for (size_t i = random.Below(4); i > 0; --i) {
      const std::string name = key();
      const Keyspace::Entry entry = keyspace.FindForWrite(name, kNow);
      if (!entry || random.OneIn(4)) {
        put(name);
      } else if (random.OneIn(4)) {
        keyspace.Erase(entry);
      } else if (random.OneIn(4)) {
        keyspace.SetDeadline(entry, kNow + random.Between(1, 1'000'000));
      } else if (entry.type() == Type::kString) {
        keyspace.MutableString(entry).Append("!");
      } else {
        entry.heap<Hash>().Set(StrCat("f", random.Below(600)), "w", {16, 64});
      }
    }
  } while (walked.Step());
  Engine loaded(2, 7, walked.zones);
  walked.LoadInto(loaded);
  REQUIRE(ContentsOf(loaded) == before);
}

}  // namespace tally::server::value_snapshot_test
