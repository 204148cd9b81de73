// Builds RESP2 and RESP3 replies at the end of an output that the caller owns. The only place that
// knows the wire format of a reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/bytes/byte_blocks.h"
#include "core/bytes/counted_block.h"

namespace tally::server {

class ReplyBuilder {
 public:
  // `output` must outlive the builder and may be cleared between replies. `protocol` is 2 or 3.
  explicit ReplyBuilder(ByteBlocks& output, int protocol = 2);

  int protocol() const { return protocol_; }
  void set_protocol(int protocol);
  ByteBlocks& output() { return output_; }

  // A status or error ends at its line end. So CR and LF are trimmed off both ends of the text and
  // replaced by spaces inside it: bytes that a client sent cannot forge a second reply.
  void Status(std::string_view text);
  void Ok();
  // `text` begins with its code: "ERR …", "WRONGTYPE …".
  // Cold: the code around its calls is kept out of the way of what succeeds.
  [[gnu::cold]] void Error(std::string_view text);

  void Integer(int64_t value);
  // Appends each value as an integer, all in one contiguous piece. At most kMaxIntegers values;
  // this is asserted.
  static constexpr size_t kMaxIntegers = 8;
  void Integers(std::span<const int64_t> values);
  // An array of two integers.
  void IntegerPair(int64_t first, int64_t second);
  void Bulk(std::string_view value);
  // The same, but shares the bytes; only short values are copied.
  void Bulk(const SharedBytes& value);
  void Bulk(const ElementView& element);
  void BulkInteger(int64_t value);
  // Text with a three-letter format ("txt", "mkd") in RESP3, a bulk string in RESP2.
  void Verbatim(std::string_view format, std::string_view text);
  // A double in RESP3, a bulk string in RESP2; see FormatDouble for the digits. Must not be NaN.
  void Double(double value);
  // #t or #f in RESP3, 1 or 0 in RESP2.
  void Bool(bool value);
  // RESP3 has one null; RESP2 a null bulk string and a null array.
  void Null();
  void NullArray();

  // Headers; the caller appends the elements. In RESP2 a map of n pairs is an array of 2n
  // elements, a set and a push are arrays.
  void Array(size_t elements);
  void Map(size_t pairs);
  void Set(size_t elements);
  void Push(size_t elements);

  // For an aggregate whose number of elements is known only afterwards: End inserts the header
  // before everything that was appended since Begin. Most of those bytes do not move. Aggregates
  // may be nested; the innermost must end first.
  [[nodiscard]] size_t BeginArray() const { return output_.size(); }
  [[nodiscard]] size_t BeginMap() const { return output_.size(); }
  [[nodiscard]] size_t BeginSet() const { return output_.size(); }
  void EndArray(size_t mark, size_t elements);
  void EndMap(size_t mark, size_t pairs);
  void EndSet(size_t mark, size_t elements);

  // A reply, or a part of one, that is already in wire format.
  void Raw(std::string_view bytes);

 private:
  void Header(char type, int64_t value);
  void InsertHeader(size_t mark, char type, size_t value);
  void Line(char type, std::string_view text);

  ByteBlocks& output_;
  int protocol_;
};

}  // namespace tally::server
