// Replies as bytes: where one ends, what is in it, how it looks to a person.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tally::differential {

// A reply, or a part of one, of RESP2 or RESP3. Views into the bytes it was parsed from.
struct Reply {
  std::string_view bytes;  // all of it, with its header
  char type = 0;           // the first byte; 0 when nothing could be parsed
  std::string_view text;   // the line after the type, or what a bulk string holds
  bool null = false;
  std::vector<Reply> parts;  // of an aggregate; a map's are key, value, key, value …

  bool aggregate() const { return type == '*' || type == '~' || type == '%' || type == '>'; }
  bool bulk() const { return type == '$'; }
};

// Bytes of the first reply in `bytes`, 0 while it is cut off. Aborts on what is no RESP. O(reply).
size_t ReplySize(std::string_view bytes);

// `bytes` is one whole reply.
Reply ParseReply(std::string_view bytes);

// In double quotes, everything but printable ASCII escaped; what is long is cut.
std::string Quoted(std::string_view bytes);

}  // namespace tally::differential
