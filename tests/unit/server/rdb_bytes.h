// Makes RDB bytes by hand, naively: every encoding that there ever was, right or with one thing
// wrong; and shows what a reader makes of them as lines of text.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/double_format.h"
#include "core/bytes/number.h"
#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"
#include "server/rdb/crc64.h"
#include "server/rdb/rdb_reader.h"

namespace tally::rdb::test {

using Texts = std::vector<std::string>;

inline std::string Little(uint64_t value, size_t bytes) {
  std::string text(bytes, '\0');
  std::memcpy(text.data(), &value, bytes);
  return text;
}

inline std::string Big(uint64_t value, size_t bytes) {
  const std::string little = Little(value, bytes);
  return {little.rbegin(), little.rend()};
}

inline std::string Byte(int value) { return std::string(1, static_cast<char>(value)); }

inline std::string Len(uint64_t n) {
  if (n < 64) return Byte(static_cast<int>(n));
  if (n < 16384) return Byte(static_cast<int>(0x40 | n >> 8)) + Byte(static_cast<int>(n & 255));
  if (n <= UINT32_MAX) return Byte(0x80) + Big(n, 4);
  return Byte(0x81) + Big(n, 8);
}

inline std::string Str(std::string_view text) { return Len(text.size()).append(text); }
inline std::string Double(double value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// One entry of a listpack; integers in the smallest form.
inline std::string ListpackEntry(const std::string& text) {
  std::string entry;
  int64_t n = 0;
  if (!ReadInt64(text, n)) {
    const size_t size = text.size();
    if (size < 64) {
      entry = Byte(static_cast<int>(0x80 | size));
    } else if (size < 4096) {
      entry = Byte(static_cast<int>(0xE0 | size >> 8)) + Byte(static_cast<int>(size & 255));
    } else {
      entry = Byte(0xF0) + Little(size, 4);
    }
    entry += text;
  } else if (n >= 0 && n < 128) {
    entry = Byte(static_cast<int>(n));
  } else if (n >= -4096 && n < 4096) {
    const int64_t raw = n < 0 ? n + 8192 : n;
    entry = Byte(static_cast<int>(0xC0 | raw >> 8)) + Byte(static_cast<int>(raw & 255));
  } else if (n >= INT16_MIN && n <= INT16_MAX) {
    entry = Byte(0xF1) + Little(static_cast<uint64_t>(n), 2);
  } else if (n >= -(1 << 23) && n < (1 << 23)) {
    entry = Byte(0xF2) + Little(static_cast<uint64_t>(n), 3);
  } else if (n >= INT32_MIN && n <= INT32_MAX) {
    entry = Byte(0xF3) + Little(static_cast<uint64_t>(n), 4);
  } else {
    entry = Byte(0xF4) + Little(static_cast<uint64_t>(n), 8);
  }
  const size_t size = entry.size();
  const size_t digits = size <= 127 ? 1 : size < 16383 ? 2 : size < 2097151 ? 3 : 4;
  for (size_t i = digits; i-- > 0;) {
    entry += Byte(static_cast<int>((size >> (7 * i) & 127) | (i + 1 == digits ? 0 : 128)));
  }
  return entry;
}

inline std::string Listpack(const Texts& texts) {
  std::string body;
  for (const std::string& text : texts) body += ListpackEntry(text);
  return Little(body.size() + 7, 4) + Little(texts.size(), 2) + body + "\xff";
}

inline std::string ZiplistEntry(const std::string& text) {
  int64_t n = 0;
  if (!ReadInt64(text, n)) {
    const size_t size = text.size();
    if (size < 64) return Byte(static_cast<int>(size)) + text;
    if (size < 16384) return Byte(static_cast<int>(0x40 | size >> 8)) + Byte(size & 255) + text;
    return Byte(0x80) + Big(size, 4) + text;
  }
  if (n >= 0 && n <= 12) return Byte(static_cast<int>(0xF1 + n));
  const auto bits = static_cast<uint64_t>(n);
  if (n >= INT8_MIN && n <= INT8_MAX) return Byte(0xFE) + Little(bits, 1);
  if (n >= INT16_MIN && n <= INT16_MAX) return Byte(0xC0) + Little(bits, 2);
  if (n >= -(1 << 23) && n < (1 << 23)) return Byte(0xF0) + Little(bits, 3);
  if (n >= INT32_MIN && n <= INT32_MAX) return Byte(0xD0) + Little(bits, 4);
  return Byte(0xE0) + Little(bits, 8);
}

inline std::string Ziplist(const Texts& texts) {
  std::string body;
  size_t last = 10;
  size_t previous = 0;
  for (const std::string& text : texts) {
    last = 10 + body.size();
    const std::string head =
        previous < 254 ? Byte(static_cast<int>(previous)) : Byte(0xFE) + Little(previous, 4);
    const std::string entry = head + ZiplistEntry(text);
    previous = entry.size();
    body += entry;
  }
  return Little(body.size() + 11, 4) + Little(last, 4) + Little(texts.size(), 2) + body + "\xff";
}

// With a spare byte after each value.
inline std::string Zipmap(const Texts& texts) {
  std::string map = Byte(static_cast<int>(texts.size() / 2));
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t size = texts[i].size();
    map += size < 254 ? Byte(static_cast<int>(size)) : Byte(254) + Little(size, 4);
    if (i % 2 == 1) map += Byte(1);
    map += texts[i];
    if (i % 2 == 1) map += "~";
  }
  return map + "\xff";
}

inline std::string Intset(const std::vector<int64_t>& numbers, size_t width) {
  std::string set = Little(width, 4) + Little(numbers.size(), 4);
  for (const int64_t n : numbers) set += Little(static_cast<uint64_t>(n), width);
  return set;
}

inline std::string File(std::string_view magic, std::string_view body, bool summed = true) {
  std::string file = StrCat(magic, body, "\xff");
  return file + Little(summed ? ExtendCrc64(0, file) : 0, 8);
}

// Shows all that it gets, a line for each call.
class TextSink final : public RdbSink {
 public:
  std::string text;
  bool wants_modules = false;

  Refusal Database(uint64_t database) override { return Line("db ", database); }
  void KeyCount(uint64_t keys) override { Line("keys ", keys); }
  void Aux(std::string_view name, std::string_view value) override { Line(name, "=", value); }
  Refusal Begin(const KeyHead& head, Kind kind) override {
    constexpr const char* kNames[] = {"string", "list", "set", "zset", "hash"};
    std::string rest;
    if (head.deadline_ms != kNoDeadline) StrAppend(rest, " until ", head.deadline_ms);
    if (head.idle_seconds) StrAppend(rest, " idle ", *head.idle_seconds);
    if (head.frequency) StrAppend(rest, " often ", *head.frequency);
    return Line(kNames[static_cast<int>(kind)], " ", head.key, rest);
  }
  Refusal Text(std::string_view value) override { return Line(" ", Printable(value)); }
  Refusal Element(std::string_view element) override { return Line(" ", Printable(element)); }
  Refusal Number(int64_t number) override { return Line(" ", number); }
  Refusal Scored(std::string_view member, double score) override {
    std::string shown;
    AppendDouble(shown, score);
    return Line(" ", Printable(member), " ", shown);
  }
  Refusal Field(std::string_view field, std::string_view value, int64_t deadline) override {
    std::string rest;
    if (deadline != kNoDeadline) StrAppend(rest, " until ", deadline);
    return Line(" ", Printable(field), "=", Printable(value), rest);
  }
  Refusal End() override { return Line("."); }
  bool BeginModule(const KeyHead* head, std::string_view name, uint64_t version) override {
    Line("module ", name, " ", version, head == nullptr ? "" : " of ",
         head == nullptr ? "" : head->key);
    return wants_modules;
  }
  Refusal ModuleText(std::string_view part) override { return Line(" ", Printable(part)); }
  Refusal ModuleNumber(uint64_t number) override { return Line(" ", number); }
  void Skipped(std::string_view kind, uint64_t, std::string_view name) override {
    Line("skipped ", kind, " ", name);
  }

 private:
  template <typename... Parts>
  Refusal Line(const Parts&... parts) {
    StrAppend(text, parts..., "\n");
    return {};
  }
};

// Bytes that come one by one, or in pieces of a size.
class PieceSource final : public ByteSource {
 public:
  PieceSource(std::string_view bytes, size_t piece) : bytes_(bytes), piece_(piece) {}

  absl::StatusOr<std::string_view> Next() override {
    last_.assign(bytes_.substr(0, piece_));
    bytes_.remove_prefix(last_.size());
    return std::string_view(last_);
  }

 private:
  std::string_view bytes_;
  const size_t piece_;
  std::string last_;  // what was given before is overwritten
};

inline absl::Status ReadAll(RdbReader& reader) {
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = reader.Next();
  return more.status();
}

// What is read from a file, and after that its error, if it has one.
inline std::string Shown(std::string_view file, size_t piece = SIZE_MAX,
                         bool wants_modules = false) {
  PieceSource source(file, piece);
  TextSink sink;
  sink.wants_modules = wants_modules;
  RdbReader reader(source, sink);
  const absl::Status status = ReadAll(reader);
  if (!status.ok()) StrAppend(sink.text, "! ", std::string(status.message()), "\n");
  return sink.text;
}

}  // namespace tally::rdb::test
