// Commands that write, drawn by dice, over a few keys of each type. Rarely a value, and more rarely
// a key, a field or a member, is huge.
#pragma once

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "random_seed.h"

namespace tally::test {

class RandomCommands {
 public:
  using Words = std::vector<std::string>;

  // No value has more than `largest` bytes, and no key more than a quarter of that.
  RandomCommands(SeededRandom& random, size_t largest)
      : random_(random), largest_(largest), long_name_(SizeUpTo(largest / 4), 'k') {}

  Words Write(int64_t now_ms);
  // What shows all that the keys with this suffix hold, one question for each type.
  std::vector<Words> Questions(const std::string& suffix) const;
  // A value, or a part of one, of any size.
  Words LargeWrite();
  // Ten fields of one size, up to 2 MB where values may have 64.
  std::vector<Words> LargeHash();
  size_t LargeSize() { return SizeUpTo(largest_); }
  size_t largest() const { return largest_; }

  // Keys have the letter of their type and then a number below 4, or this.
  std::string LongSuffix() const { return absl::StrCat(4, long_name_); }
  // What follows the letter of a long field or member.
  const std::string& long_name() const { return long_name_; }

 private:
  // Any, one as likely as its double; or beside a bound that the server has.
  size_t SizeUpTo(size_t largest);
  std::string Key(char type);
  std::string Name(char kind, uint64_t below);
  std::string Bytes();
  std::string Letters(size_t size);

  SeededRandom& random_;
  size_t largest_;
  std::string long_name_;
};

inline size_t RandomCommands::SizeUpTo(size_t largest) {
  const size_t power = size_t{1} << random_.Below(std::bit_width(largest));
  size_t size = power + random_.Below(power);
  if (random_.OneIn(4)) {
    // A run, a block, what is written before a sync, 16 MiB, what is copied rather
    // than saved, what may be unsynced.
    constexpr size_t kBounds[] = {1 << 16, 1 << 20, 4 << 20, 16 << 20, 32 << 20, 64 << 20};
    size = kBounds[random_.Below(std::size(kBounds))] + random_.Below(5) - 2;
  }
  return std::min(largest, size);
}

inline std::string RandomCommands::Key(char type) {
  const std::string letter(1, type);
  return random_.OneIn(2000) ? letter + LongSuffix() : absl::StrCat(letter, random_.Below(4));
}

inline std::string RandomCommands::Name(char kind, uint64_t below) {
  const std::string letter(1, kind);
  return random_.OneIn(2000) ? letter + long_name_ : absl::StrCat(letter, random_.Below(below));
}

inline std::string RandomCommands::Bytes() {
  uint64_t size = random_.OneIn(10) ? random_.Below(3000) : random_.Below(12);
  if (random_.OneIn(2000)) size = LargeSize();
  return Letters(size);
}

inline std::string RandomCommands::Letters(size_t size) {
  return std::string(size, static_cast<char>('a' + random_.Below(26)));
}

inline RandomCommands::Words RandomCommands::LargeWrite() {
  const std::string text = Letters(LargeSize());
  switch (random_.Below(6)) {
    case 0:
      return {"SET", Key('s'), text};
    case 1:
      return {"APPEND", Key('s'), text};
    case 2:
      // One byte longer than is allowed, or zeros, of which not many: they are shown in four
      // letters.
      if (random_.OneIn(2)) return {"SETRANGE", Key('s'), absl::StrCat(largest_ - 1), "xy"};
      return {"SETRANGE", Key('s'), absl::StrCat(SizeUpTo(largest_ / 64)), "x"};
    case 3:
      if (random_.OneIn(2)) return {"LSET", Key('l'), absl::StrCat(random_.Below(4)), text};
      return {"RPUSH", Key('l'), text, text.substr(0, text.size() / 2)};
    case 4:
      return {"HSET", Key('h'), Name('f', 10), text};
    default:
      return random_.OneIn(2) ? Words{"SADD", Key('t'), "m" + long_name_}
                              : Words{"ZADD", Key('z'), "7", "m" + long_name_};
  }
}

inline std::vector<RandomCommands::Words> RandomCommands::LargeHash() {
  const std::string key = Key('h');
  const std::string value(SizeUpTo(largest_ / 32), 'v');
  std::vector<Words> commands;
  for (int field = 0; field < 10; ++field) {
    commands.push_back({"HSET", key, absl::StrCat("f", field), value});
  }
  return commands;
}

inline RandomCommands::Words RandomCommands::Write(int64_t now_ms) {
  const auto field = [&](const char* kind) { return absl::StrCat(kind, random_.Below(4)); };
  const auto text_field = [&] { return Name('f', 10); };
  const auto member = [&] { return Name('m', 8); };
  const auto number = [&] { return absl::StrCat(random_.Between(-9, 99)); };
  const auto ms = [&] { return absl::StrCat(random_.Between(1, 9000)); };
  switch (random_.Below(24)) {
    case 0:
      return {"SET", Key('s'), Bytes()};
    case 1:
      return {"SET", Key('s'), Bytes(), "PX", ms()};
    case 2:
      return {"APPEND", Key('s'), absl::StrCat("x", number())};
    case 3:
    case 4:
      return {"INCRBY", Key('n'), number()};
    case 5:
      return {"RPUSH", Key('l'), number(), Bytes(), number()};
    case 6:
      return {"LPUSH", Key('l'), number()};
    case 7:
      return {"LPOP", Key('l')};
    case 8:
      return {"RPOP", Key('l')};
    case 9:
      return {"HSET", Key('h'), text_field(), Bytes()};
    case 10:
      return {"HINCRBY", Key('h'), field("n"), number()};
    case 11:
      return {"HDEL", Key('h'), text_field()};
    case 12:
      return {"SADD", Key('t'), member()};
    case 13:
      return {"SREM", Key('t'), member()};
    case 14:
      return {"ZADD", Key('z'), number(), member()};
    case 15:
      return {"ZINCRBY", Key('z'), number(), member()};
    case 16:
      return {"ZPOPMIN", Key('z')};
    case 17:
      return {"ZREM", Key('z'), member()};
    default:
      break;
  }
  constexpr char kTypes[] = {'s', 'n', 'l', 'h', 't', 'z'};
  const char type = kTypes[random_.Below(std::size(kTypes))];
  const std::string key = Key(type);
  const std::string other = absl::StrCat(std::string(1, type), (key[1] - '0' + 1) % 4);
  switch (random_.Below(12)) {
    case 0:
      return {"COPY", key, other, "REPLACE"};
    case 1:
      return {"RENAME", key, other};
    case 2:
      return {"PERSIST", key};
    case 3:
      return {"DEL", key};
    case 4:
      return random_.OneIn(10) ? Words{"SWAPDB", "0", "1"} : Words{"DEL", key};
    case 5:
      return random_.OneIn(20) ? Words{"FLUSHDB"} : Words{"DEL", key};
    default:
      return {"PEXPIREAT", key, absl::StrCat(now_ms + random_.Between(-200, 20'000))};
  }
}

inline std::vector<RandomCommands::Words> RandomCommands::Questions(
    const std::string& suffix) const {
  const auto key = [&](char type) { return std::string(1, type) + suffix; };
  std::vector<Words> questions = {
      {"GET", key('s')},
      {"GET", key('n')},
      {"LRANGE", key('l'), "0", "-1"},
      {"HMGET", key('h'), "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "n0", "n1",
       "n2", "n3", "f" + long_name_},
      {"SMISMEMBER", key('t'), "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m" + long_name_},
      {"ZRANGE", key('z'), "0", "-1", "WITHSCORES"}};
  for (const char type : {'s', 'n', 'l', 'h', 't', 'z'}) {
    questions.push_back({"TYPE", key(type)});
    questions.push_back({"PEXPIRETIME", key(type)});
  }
  return questions;
}

}  // namespace tally::test
