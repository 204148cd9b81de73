#include "core/words/word_reader.h"

#include <optional>
#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/time/duration.h"

namespace tally {
namespace {

// The offset from UTC that somebody meant who wrote UTC+8, GMT-0330 or +8; empty if none.
std::string OffsetMeant(std::string_view name) {
  for (const std::string_view prefix : {"utc", "gmt"}) {
    if (IsWord(name.substr(0, prefix.size()), prefix)) {
      name.remove_prefix(prefix.size());
      break;
    }
  }
  if (name.empty() || (name.front() != '+' && name.front() != '-')) return {};
  std::string digits;
  for (const char c : name.substr(1)) {
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c != ':')
      return {};
  }
  if (digits.size() == 1 || digits.size() == 3) digits.insert(0, "0");
  if (digits.size() == 2) digits += "00";
  if (digits.size() != 4) return {};
  std::string offset = StrCat(name.substr(0, 1), digits.substr(0, 2), ":", digits.substr(2));
  return Zone::OfOffset(offset) ? offset : std::string();
}

}  // namespace

bool WordReader::Fail(std::string text) const {
  error = std::move(text);
  return false;
}

bool WordReader::Count(size_t index, std::string_view name, int64_t least, int64_t& count) const {
  if (index >= words.size()) return false;
  int64_t value = 0;
  if (!ReadInt64(words[index], value) || value < least) {
    return Fail(StrCat(name, " must be an integer of at least ", least));
  }
  count = value;
  return true;
}

bool WordReader::Duration(size_t index, std::string_view name, int64_t& ms) const {
  if (index >= words.size()) return false;
  int64_t value = 0;
  if (!ReadDuration(words[index], value) || value == 0) {
    return Fail(StrCat(name, " must be a duration above 0, as 500ms, 5s, 10m, 24h or 7d"));
  }
  ms = value;
  return true;
}

bool WordReader::Instant(size_t index, std::string_view name, int64_t& ms) const {
  if (index >= words.size()) return false;
  const std::string_view text = words[index];
  const bool stored = origin_ == WordOrigin::kStored;
  if (const auto likely = stored ? std::nullopt : ParseLikelyMilliseconds(text); likely) {
    return Fail(
        StrCat(name, " ", text.substr(0, 64), " looks like milliseconds: write ", *likely, "ms"));
  }
  const auto value = ParseInstant(text);
  if (!value) {
    return Fail(StrCat(name,
                       " must be unix seconds, with or without a fraction, or milliseconds as "
                       "1795230400123ms"));
  }
  ms = *value;
  return true;
}

Zone* WordReader::ZoneAt(size_t index, ZoneSource& zones) const {
  if (index >= words.size()) return nullptr;
  const std::string_view name = words[index];
  Zone* zone = origin_ == WordOrigin::kStored ? zones.FindStored(name) : zones.Find(name);
  if (zone == nullptr) {
    const std::string offset = OffsetMeant(name);
    Fail(
        StrCat("TZ must be an IANA time zone that this system knows, or an offset as +08:00, not '",
               name.substr(0, 64), offset.empty() ? "'" : "': write ", offset));
  }
  return zone;
}

}  // namespace tally
