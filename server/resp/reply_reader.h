// Reads back what ReplyBuilder wrote. The only place that takes a reply apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/bytes/byte_blocks.h"

namespace tally::server {

enum class ReplyType : char {
  kStatus = '+',
  kError = '-',
  kInteger = ':',
  kDouble = ',',
  kBool = '#',
  kBigNumber = '(',
  kBulk = '$',
  kVerbatim = '=',
  kArray = '*',
  kSet = '~',
  kPush = '>',
  kMap = '%',
  kNull = '_',
  // The nulls of RESP2, which have no byte of their own: "$-1" and "*-1".
  kNullBulk = 'b',
  kNullArray = 'a',
};

// A value that has no values inside, or the header of one that has.
struct ReplyPart {
  ReplyType type;
  // What is between the type and the line's end; of a bulk string its bytes; of a verbatim string
  // its format, a colon and its bytes.
  std::string_view text;
  // Of an integer its value. Of an aggregate how many values follow that are its own: of a map two
  // for each pair. Otherwise 0.
  int64_t number;

  bool is_aggregate() const {
    return type == ReplyType::kArray || type == ReplyType::kSet || type == ReplyType::kPush ||
           type == ReplyType::kMap;
  }
};

class ReplyReader {
 public:
  // `reply` must outlive the reader and the parts.
  explicit ReplyReader(std::string_view reply) : rest_(reply) {}

  bool empty() const { return rest_.empty(); }
  // Takes the next part from the front. The reply must have one, whole: only replies of this
  // process are read, so this is asserted. O(bytes of a line); a string's bytes are not looked at.
  ReplyPart Next();

 private:
  std::string_view rest_;
};

// Whether the reply that begins there is an error. False if there is no reply.
inline bool IsError(std::string_view reply) { return reply.starts_with('-'); }
inline bool IsError(const ByteBlocks& output, size_t begin) {
  return output.size() > begin && output[begin] == '-';
}
// The text of an error, with its code. The error may be cut off. Requires IsError(reply).
std::string_view ErrorText(std::string_view reply);

}  // namespace tally::server
