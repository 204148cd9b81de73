// Commands of HITS, LIMIT, POLICY, ACTIVE and QUOTA, drawn by dice, over a few keys of each. Rarely
// a key or an id is huge.
#pragma once

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "random_seed.h"

namespace tally::test {

class RandomNatives {
 public:
  using Words = std::vector<std::string>;

  // `long_name` is the rest of a huge key, id or policy's name.
  RandomNatives(SeededRandom& random, std::string long_name)
      : random_(random), long_name_(std::move(long_name)) {}

  // Keys have the letter of their type (H, L, A, Q) and then a number below 4, or 4 and the long
  // name. Policies are named P and a number.
  Words Write(int64_t now_ms);
  // What shows all that a key holds, but for the bytes it takes. `suffix` is the key without its
  // letter.
  std::vector<Words> Questions(const std::string& suffix, int64_t now_ms);

 private:
  std::string Key(char type);
  std::string Name(char kind, uint64_t below);
  std::string Number(uint64_t below) { return absl::StrCat(random_.Below(below)); }
  std::string Period();
  std::string Zone();
  // An instant at which a window begins.
  std::string From() { return random_.OneIn(2) ? "0" : "1699999999.999"; }
  Words Calendar(const std::string& limit);
  // AT and an instant, early and late ones too, or nothing.
  Words At(int64_t now_ms);
  void AppendRules(Words& words);
  // Ids of reservations begin with R, as policies with P: capital letters are of tallyd.
  Words Reservation(int64_t now_ms);
  Words Limit(int64_t now_ms);
  Words Hits(int64_t now_ms);
  Words Active(int64_t now_ms);
  Words Quota(int64_t now_ms);
  Words AnyKey(int64_t now_ms);
  static Words Joined(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  SeededRandom& random_;
  std::string long_name_;
};

inline std::string RandomNatives::Key(char type) {
  const std::string letter(1, type);
  return random_.OneIn(2000) ? absl::StrCat(letter, 4, long_name_)
                             : absl::StrCat(letter, random_.Below(4));
}

inline std::string RandomNatives::Name(char kind, uint64_t below) {
  const std::string letter(1, kind);
  return random_.OneIn(2000) ? letter + long_name_ : absl::StrCat(letter, random_.Below(below));
}

inline std::string RandomNatives::Period() {
  constexpr const char* kPeriods[] = {"1", "500ms", "3s", "20s", "3m", "2h", "7d"};
  return kPeriods[random_.Below(std::size(kPeriods))];
}

inline std::string RandomNatives::Zone() {
  constexpr const char* kZones[] = {"Asia/Kathmandu", "Australia/Lord_Howe", "-09:30", "+14:00"};
  return kZones[random_.Below(std::size(kZones))];
}

inline RandomNatives::Words RandomNatives::Calendar(const std::string& limit) {
  constexpr const char* kUnits[] = {"minute", "hour", "day", "week", "month", "year"};
  constexpr const char* kStarts[] = {"", "", "20:00", "sunday", "31T23:59", "02-29"};
  const uint64_t unit = random_.Below(std::size(kUnits));
  Words rule = {"CALENDAR", limit, kUnits[unit]};
  if (random_.OneIn(2)) rule = Joined(std::move(rule), {"TZ", Zone()});
  const std::string start = kStarts[unit];
  if (!start.empty() && random_.OneIn(2)) rule = Joined(std::move(rule), {"STARTS", start});
  return rule;
}

inline RandomNatives::Words RandomNatives::At(int64_t now_ms) {
  if (!random_.OneIn(4)) return {};
  const int64_t span_ms = random_.OneIn(5) ? 90'000'000 : 9'000;
  return {"AT", absl::StrCat(now_ms + random_.Between(-span_ms, span_ms / 3), "ms")};
}

inline void RandomNatives::AppendRules(Words& words) {
  do {
    const std::string limit = Number(9);
    Words rule;
    switch (random_.Below(9)) {
      case 0:
        rule = {"FIXED", limit, Period()};
        if (random_.OneIn(3)) rule = Joined(std::move(rule), {"FROM", From()});
        break;
      case 1:
        rule = Calendar(limit);
        break;
      case 2:
        rule = {"ROLLING", limit, Period()};
        break;
      case 3:
        rule = {"BUCKET", limit, absl::StrCat(1 + random_.Below(5)), Period()};
        break;
      case 4:
        rule = {"BASE", Number(4), limit, Period()};
        if (random_.OneIn(2)) rule = Joined(std::move(rule), {"TZ", Zone(), "STARTS", "20:00"});
        break;
      case 5:
        rule = {"POLICY", Name('P', 3)};
        break;
      case 6:
        rule = {"LOCKOUT", limit, Period(), Period()};
        if (random_.OneIn(2)) rule = Joined(std::move(rule), {"GROW", "1.5", "MAX", "400d"});
        break;
      default:
        rule = {"SLIDING", absl::StrCat(random_.Below(300)), Period()};
    }
    const bool shadow = rule[0] != "LOCKOUT" && random_.OneIn(5);
    if (shadow) words.emplace_back("SHADOW");
    words = Joined(std::move(words), rule);
  } while (random_.OneIn(3));
}

inline RandomNatives::Words RandomNatives::Reservation(int64_t now_ms) {
  const std::string id = Name('R', 9);
  switch (random_.Below(6)) {
    case 0:
      return {"LIMIT.CANCEL", id, Key('L')};
    case 1:
      return {"LIMIT.EXTEND", id, Period(), Key('L'), "COST", Number(3)};
    case 2:
      return Joined({"LIMIT.COMMIT", id, Key('L'), "COST", Number(4)},
                    random_.OneIn(2) ? Words{"FORCE"} : Words{"LATE", "KEEP"});
    default:
      break;
  }
  Words words = {"LIMIT.RESERVE", id, Period(), Key('L')};
  AppendRules(words);
  if (random_.OneIn(3)) words = Joined(std::move(words), {"CONCURRENT", Number(9)});
  return Joined(std::move(words), At(now_ms));
}

inline RandomNatives::Words RandomNatives::Limit(int64_t now_ms) {
  if (random_.OneIn(5)) return Reservation(now_ms);
  switch (random_.Below(12)) {
    case 0:
      return Joined({"LIMIT.GIVE", Key('L'), Number(4)}, At(now_ms));
    case 1:
      return random_.OneIn(4) ? Words{"LIMIT.RESET", Key('L')}
                              : Words{"CL.THROTTLE", Key('L'), "5", "10", "20", Number(3)};
    case 2: {
      if (random_.OneIn(4)) return {"POLICY.DEL", Name('P', 3)};
      Words words = {"POLICY.SET", Name('P', 3), "SLIDING", Number(9), Period()};
      if (random_.OneIn(3)) words = Joined(std::move(words), {"HOLDS", Period(), "0.6"});
      return words;
    }
    default:
      break;
  }
  Words words = {random_.OneIn(3) ? "LIMIT.FORCE" : "LIMIT.TAKE", Key('L')};
  AppendRules(words);
  while (random_.OneIn(4)) {
    words = Joined(std::move(words), {"AND", Key('L')});
    AppendRules(words);
  }
  if (random_.OneIn(2)) words = Joined(std::move(words), {"COST", Number(40)});
  if (random_.OneIn(5)) words = Joined(std::move(words), {"ONCE", Name('R', 9)});
  return Joined(std::move(words), At(now_ms));
}

inline RandomNatives::Words RandomNatives::Hits(int64_t now_ms) {
  if (random_.OneIn(6)) return {"HITS.UNDO", Key('H'), Number(9)};
  Words words = {"HITS.ADD", Key('H'), Period(), "COUNT", Number(200)};
  if (random_.OneIn(3)) words = Joined(std::move(words), {"CAP", Number(900)});
  return Joined(std::move(words), At(now_ms));
}

inline RandomNatives::Words RandomNatives::Active(int64_t now_ms) {
  switch (random_.Below(10)) {
    case 0:
      return {"ACTIVE.FORGET", Key('A'), Name('i', 60)};
    case 1:
      return {"ACTIVE.CREATE",       Key('A'), "WINDOW", "90s", "TZ",
              "Australia/Lord_Howe", "KEEP",   "3d"};
    default:
      break;
  }
  const Words at = At(now_ms);
  const Words ids = {Name('i', 60), Name('i', 60)};
  if (random_.OneIn(20)) {
    return random_.OneIn(2) ? Words{"ACTIVE.ALTER", Key('A'), "WINDOW", Period()}
                            : Words{"ACTIVE.ALTER", Key('A'), "KEEP", Period()};
  }
  if (at.empty()) return Joined({"ACTIVE.TOUCH", Key('A')}, ids);
  return Joined({"ACTIVE.TOUCHAT", Key('A'), at[1]}, ids);
}

inline RandomNatives::Words RandomNatives::Quota(int64_t now_ms) {
  const std::string key = Key('Q');
  const auto user = [&] { return random_.OneIn(2) ? Number(20) : Name('u', 20); };
  const auto sku = [&] { return random_.OneIn(3) ? Name('s', 5) : Number(5); };
  const auto action = [&] { return random_.OneIn(3) ? Name('a', 2) : Number(3); };
  switch (random_.Below(10)) {
    case 0:
      return {"QUOTA.SETLIMIT", key, sku(), action(), Number(30), Period()};
    case 1:
      return random_.OneIn(2) ? Words{"QUOTA.DELLIMIT", key, sku()}
                              : Words{"QUOTA.RESET", key, user()};
    case 2:
    case 3:
      if (random_.OneIn(3)) return {"QUOTA.CONFIRM", key, user(), Name('o', 30)};
      return Joined({"QUOTA.RETURN", key, user(), Name('o', 30), "ITEMS", sku(), Number(4)},
                    random_.OneIn(3) ? Words{"ONCE"} : Words{});
    default:
      break;
  }
  Words words = {random_.OneIn(3) ? "QUOTA.RECORD" : "QUOTA.BUY", key, user(), Name('o', 30),
                 "ITEMS"};
  do {
    words = Joined(std::move(words), {sku(), action(), absl::StrCat(1 + random_.Below(4))});
  } while (random_.OneIn(3));
  words = Joined(std::move(words), At(now_ms));
  if (random_.OneIn(4)) words.push_back("ONCE");
  if (random_.OneIn(4)) words = Joined(std::move(words), {"HOLD", Period()});
  return words;
}

inline RandomNatives::Words RandomNatives::AnyKey(int64_t now_ms) {
  const char type = "HLAQ"[random_.Below(4)];
  switch (random_.Below(6)) {
    case 0:
      return {"COPY", Key(type), Key(type), "REPLACE"};
    case 1:
      return {"RENAME", Key(type), Key(type)};
    case 2:
      return {"PEXPIREAT", Key(type), absl::StrCat(now_ms + random_.Between(-200, 20'000))};
    case 3:
      return {"PERSIST", Key(type)};
    default:
      return {"DEL", Key(type)};
  }
}

inline RandomNatives::Words RandomNatives::Write(int64_t now_ms) {
  switch (random_.Below(16)) {
    case 0:
      return AnyKey(now_ms);
    case 1:
    case 2:
    case 3:
      return Hits(now_ms);
    case 4:
    case 5:
    case 6:
      return Active(now_ms);
    case 7:
    case 8:
    case 9:
    case 10:
      return Quota(now_ms);
    default:
      return Limit(now_ms);
  }
}

inline std::vector<RandomNatives::Words> RandomNatives::Questions(const std::string& suffix,
                                                                  int64_t now_ms) {
  const auto key = [&](char type) { return std::string(1, type) + suffix; };
  const auto instant = [&](int64_t ms) { return absl::StrCat(now_ms + ms, "ms"); };
  const std::string user = random_.OneIn(2) ? Number(20) : absl::StrCat("u", random_.Below(20));
  std::vector<Words> questions = {
      {"HITS.COUNT", key('H')},
      {"HITS.RANGE", key('H'), "FROM", instant(-100'000), "TO", instant(9'000), "STEP", "1s"},
      {"LIMIT.SHOW", key('L')},
      {"LIMIT.HELD", key('L')},
      {"LIMIT.PEEK", key('L'), "SLIDING", "100", "3m", "FIXED", "9", "20s", "BUCKET", "8", "3",
       "3s"},
      {"ACTIVE.ONLINE", key('A')},
      {"ACTIVE.DAY", key('A'), "DAYS", "3"},
      {"ACTIVE.SCAN", key('A'), "0", "COUNT", "100"},
      {"ACTIVE.SERIES", key('A'), "FROM", instant(-3'600'000), "TO", instant(60'000), "STEP", "1m"},
      {"QUOTA.HISTORY", key('Q'), user},
      {"QUOTA.LEFT", key('Q'), user, "0", "1", "s1"},
      {"QUOTA.LIMITS", key('Q'), "0", "1", "s1"}};
  for (const char type : {'H', 'L', 'A', 'Q'}) {
    questions.push_back({"TYPE", key(type)});
    questions.push_back({"PEXPIRETIME", key(type)});
  }
  return questions;
}

}  // namespace tally::test
