// The commands of the stream, as lines of text from which the generator makes requests.
//
//   word          itself, in any case
//   <name>        an argument of that kind (words.h)
//   [ a b ]       with or without
//   ( a | b c )   one of them
//   { a }         one to five times, each made anew
//   a ; b         two commands, one right after the other
//   $             the line's first key, again
#pragma once

#include <span>
#include <string_view>

#include "tests/differential/comparison.h"

namespace tally::differential {

struct Line {
  std::string_view text;
  Rule rule = Rule::kExact;  // of the line's last command but a DEL; the others' are kAnyOrder
  int weight = 100;
};

std::span<const Line> GenericLines();
std::span<const Line> StringLines();
std::span<const Line> ListLines();
std::span<const Line> HashLines();
std::span<const Line> SetLines();
std::span<const Line> ZSetLines();
std::span<const Line> OtherLines();  // transactions, connections, wrong commands

}  // namespace tally::differential
