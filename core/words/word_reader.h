// Reads counts, durations, instants and time zones from words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/time/zone_source.h"
#include "core/words/word.h"

namespace tally {

// Where words come from. Words of a caller are checked for mistakes that stored words cannot have.
enum class WordOrigin : uint8_t { kCaller, kStored };

// Each function reads the word at `index` and returns false if it is wrong. The error then says
// which word is wrong and why. If the word is missing, the error stays empty, because the whole
// syntax is then the better answer.
class WordReader {
 public:
  // `error_in` must be empty and outlive the reader.
  WordReader(Words words_in, WordOrigin origin, std::string& error_in)
      : words(words_in), error(error_in), origin_(origin) {}

  // Reads an integer of at least `least`.
  [[nodiscard]] bool Count(size_t index, std::string_view name, int64_t least,
                           int64_t& count) const;
  // Reads a duration above 0, in ms: 500ms, 5s, 10m, 24h, 7d, or a number of seconds.
  [[nodiscard]] bool Duration(size_t index, std::string_view name, int64_t& ms) const;
  // Reads an instant as unix ms. The word is unix seconds, or unix milliseconds with the suffix ms.
  // A bare number above 1e11 from a caller is refused, because it was meant as milliseconds.
  [[nodiscard]] bool Instant(size_t index, std::string_view name, int64_t& ms) const;
  // Reads a zone by its IANA name or offset; returns null if the source does not have it. For a
  // stored name that the source does not have, returns a zone that is_missing(), so that what was
  // stored where the zone was known is kept.
  Zone* ZoneAt(size_t index, ZoneSource& zones) const;

  // Returns a reader of other words with the same origin and error.
  WordReader Of(Words other) const { return {other, origin_, error}; }

  // Sets the error to `text` and returns false.
  bool Fail(std::string text) const;

  const Words words;
  std::string& error;

 private:
  WordOrigin origin_;
};

}  // namespace tally
