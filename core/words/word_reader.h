// Counts, durations, instants and zones among words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/time/zone_source.h"
#include "core/words/word.h"

namespace tally {

// Where words come from: whoever sends them may be wrong in ways in which what was stored is not.
enum class WordOrigin : uint8_t { kCaller, kStored };

// Each function reads the word at `index`. False if it is wrong: then the error says so, naming it;
// where the word is missing the error stays empty, and the whole syntax is the better answer.
class WordReader {
 public:
  // `error` is empty, and outlives the reader.
  WordReader(Words words_in, WordOrigin origin, std::string& error_in)
      : words(words_in), error(error_in), origin_(origin) {}

  // An integer of at least `least`.
  [[nodiscard]] bool Count(size_t index, std::string_view name, int64_t least,
                           int64_t& count) const;
  // A duration above 0, in ms: 500ms, 5s, 10m, 24h, 7d, or a number of seconds.
  [[nodiscard]] bool Duration(size_t index, std::string_view name, int64_t& ms) const;
  // An instant, in unix ms: unix seconds, or with the suffix ms. A bare number above 1e11 is
  // refused from callers: milliseconds were meant.
  [[nodiscard]] bool Instant(size_t index, std::string_view name, int64_t& ms) const;
  // A zone by its IANA name, null if the source has it not. What was stored where there was such a
  // zone is kept where there is none.
  Zone* ZoneAt(size_t index, ZoneSource& zones) const;

  // The same for other words.
  WordReader Of(Words other) const { return {other, origin_, error}; }

  // Takes what is wrong; false.
  bool Fail(std::string text) const;

  const Words words;
  std::string& error;

 private:
  WordOrigin origin_;
};

}  // namespace tally
