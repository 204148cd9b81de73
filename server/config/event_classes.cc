#include "server/config/event_classes.h"

namespace tally::server {
namespace {

struct Letter {
  char letter;
  uint32_t classes;
};

// A comes first: a set that holds all its classes is then written with A in place of their letters.
constexpr Letter kEventLetters[] = {
    {'A', kEventAll},      {'g', kEventGeneric},  {'$', kEventString},  {'l', kEventList},
    {'s', kEventSet},      {'h', kEventHash},     {'z', kEventZset},    {'x', kEventExpired},
    {'e', kEventEvicted},  {'t', kEventStream},   {'d', kEventModule},  {'n', kEventNew},
    {'K', kEventKeyspace}, {'E', kEventKeyevent}, {'m', kEventKeyMiss},
};

}  // namespace

std::optional<uint32_t> ParseEventClasses(std::string_view letters) {
  uint32_t classes = 0;
  for (const char c : letters) {
    uint32_t found = 0;
    for (const Letter& row : kEventLetters) {
      if (row.letter == c) found = row.classes;
    }
    if (found == 0) return std::nullopt;
    classes |= found;
  }
  return classes;
}

std::string FormatEventClasses(uint32_t classes) {
  std::string letters;
  uint32_t written = 0;
  for (const Letter& row : kEventLetters) {
    const bool wanted = (classes & row.classes) == row.classes;
    const bool news = (row.classes & ~written) != 0;
    if (!wanted || !news) continue;
    letters += row.letter;
    written |= row.classes;
  }
  return letters;
}

}  // namespace tally::server
