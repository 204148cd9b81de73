// The packed encodings in which Redis keeps small values and saves them as they are: listpacks,
// ziplists, zipmaps and intsets. Each reader goes through one blob and checks all of it: lengths,
// the lengths that are written backwards, counts, and the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/rdb/stored_text.h"

namespace tally::rdb {

// What the readers share: the bytes, and the first error.
class PackedReader {
 public:
  // False after an error; then why() says what is wrong.
  bool good() const { return why_.empty(); }
  std::string_view why() const { return why_; }

 protected:
  explicit PackedReader(std::string_view blob) : blob_(blob) {}

  // Returns false.
  bool Fail(std::string_view why) {
    why_ = why;
    return false;
  }
  // Returns whether this many bytes are left at place_.
  bool Has(uint64_t bytes) const { return bytes <= blob_.size() - place_; }
  uint8_t At(size_t place) const { return static_cast<uint8_t>(blob_[place]); }
  // A little-endian number of `bytes` bytes at `place`; the second one with its sign.
  uint64_t Unsigned(size_t place, size_t bytes) const;
  int64_t Signed(size_t place, size_t bytes) const;

  const std::string_view blob_;
  size_t place_ = 0;

 private:
  std::string_view why_;
};

// All of them: Next() sets `element` to the next element, or returns false at the end and after an
// error.
class ListpackReader : private PackedReader {
 public:
  explicit ListpackReader(std::string_view blob);
  using PackedReader::good;
  using PackedReader::why;
  bool Next(StoredText& element);

 private:
  // Sets the element at place_ and the size of its entry without the backward length.
  bool Decode(StoredText& element, size_t& size);
  bool Text(size_t head, uint64_t length, StoredText& element, size_t& size);
  bool Number(size_t bytes, StoredText& element, size_t& size);
  bool PassBackwardLength(size_t size);
  bool End();

  size_t count_ = 0;
};

class ZiplistReader : private PackedReader {
 public:
  explicit ZiplistReader(std::string_view blob);
  using PackedReader::good;
  using PackedReader::why;
  bool Next(StoredText& element);

 private:
  bool PassPreviousLength();
  bool Decode(StoredText& element);
  bool Text(size_t head, uint64_t length, StoredText& element);
  bool Number(size_t bytes, StoredText& element);
  bool End();

  size_t last_entry_ = 0;  // where the entry before begins
  size_t count_ = 0;
};

// Its elements are fields and values in turn.
class ZipmapReader : private PackedReader {
 public:
  explicit ZipmapReader(std::string_view blob);
  using PackedReader::good;
  using PackedReader::why;
  bool Next(StoredText& element);

 private:
  bool Length(uint64_t& length);
  bool End();

  bool is_value_ = false;
  size_t count_ = 0;
};

class IntsetReader : private PackedReader {
 public:
  explicit IntsetReader(std::string_view blob);
  using PackedReader::good;
  using PackedReader::why;
  bool Next(StoredText& element);

 private:
  size_t width_ = 0;
  int64_t last_ = 0;
};

}  // namespace tally::rdb
