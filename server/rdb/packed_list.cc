#include "server/rdb/packed_list.h"

#include <cstring>

namespace tally::rdb {

uint64_t PackedReader::Unsigned(size_t place, size_t bytes) const {
  uint64_t value = 0;
  std::memcpy(&value, blob_.data() + place, bytes);
  return value;
}

int64_t PackedReader::Signed(size_t place, size_t bytes) const {
  const size_t spare = 64 - 8 * bytes;
  return static_cast<int64_t>(Unsigned(place, bytes) << spare) >> spare;
}

// --- listpack: u32 bytes, u16 count, entries, 0xFF; an entry ends in its own length, backwards ---

namespace {

constexpr size_t kListpackHeader = 6;
constexpr uint8_t kPackedEnd = 0xFF;
// A count that does not fit is written as this.
constexpr uint64_t kUncounted = 0xFFFF;

// The bytes of the backward length of an entry, as Redis chooses them.
size_t BackwardBytes(size_t size) {
  if (size <= 127) return 1;
  if (size < 16383) return 2;
  if (size < 2097151) return 3;
  return size < 268435455 ? 4 : 5;
}

}  // namespace

ListpackReader::ListpackReader(std::string_view blob) : PackedReader(blob) {
  if (blob.size() < kListpackHeader + 1 || Unsigned(0, 4) != blob.size()) {
    Fail("listpack: its length is wrong");
  } else if (At(blob.size() - 1) != kPackedEnd) {
    Fail("listpack: it has no end");
  }
  place_ = kListpackHeader;
}

bool ListpackReader::Next(StoredText& element) {
  if (!good()) return false;
  if (place_ + 1 == blob_.size()) return End();
  size_t size = 0;
  if (!Decode(element, size)) return false;
  ++count_;
  place_ += size;
  return PassBackwardLength(size);
}

bool ListpackReader::End() {
  const uint64_t counted = Unsigned(4, 2);
  if (counted != kUncounted && counted != count_) return Fail("listpack: its count is wrong");
  return false;
}

bool ListpackReader::Text(size_t head, uint64_t length, StoredText& element, size_t& size) {
  if (!Has(head + length)) return Fail("listpack: a text that is longer than it");
  element.Set(blob_.substr(place_ + head, length));
  size = head + length;
  return true;
}

bool ListpackReader::Number(size_t bytes, StoredText& element, size_t& size) {
  if (!Has(1 + bytes)) return Fail("listpack: a number that is longer than it");
  element.Set(Signed(place_ + 1, bytes));
  size = 1 + bytes;
  return true;
}

bool ListpackReader::Decode(StoredText& element, size_t& size) {
  const uint8_t first = At(place_);
  if (first < 0x80) {
    element.Set(int64_t{first});
    size = 1;
    return true;
  }
  if (first < 0xC0) return Text(1, first & 0x3F, element, size);
  if (first < 0xF0 && !Has(2)) return Fail("listpack: an entry that is longer than it");
  if (first < 0xE0) {
    // 13 bits with a sign.
    const auto raw =
        static_cast<int64_t>(static_cast<uint64_t>(first & 0x1F) << 8 | At(place_ + 1));
    element.Set(raw >= 4096 ? raw - 8192 : raw);
    size = 2;
    return true;
  }
  if (first < 0xF0) {
    return Text(2, static_cast<uint64_t>(first & 0x0F) << 8 | At(place_ + 1), element, size);
  }
  switch (first) {
    case 0xF0:
      if (!Has(5)) return Fail("listpack: an entry that is longer than it");
      return Text(5, Unsigned(place_ + 1, 4), element, size);
    case 0xF1:
      return Number(2, element, size);
    case 0xF2:
      return Number(3, element, size);
    case 0xF3:
      return Number(4, element, size);
    case 0xF4:
      return Number(8, element, size);
    default:
      return Fail("listpack: an unknown encoding");
  }
}

bool ListpackReader::PassBackwardLength(size_t size) {
  const size_t bytes = BackwardBytes(size);
  // The last byte of the blob is its end.
  if (!Has(bytes + 1)) return Fail("listpack: an entry that is longer than it");
  for (size_t i = 0; i < bytes; ++i) {
    const size_t digit = size >> (7 * (bytes - 1 - i)) & 0x7F;
    if (At(place_ + i) != (digit | (i == 0 ? 0 : 0x80))) {
      return Fail("listpack: a backward length is wrong");
    }
  }
  place_ += bytes;
  return true;
}

// --- ziplist: u32 bytes, u32 place of the last entry, u16 count, entries, 0xFF ---

namespace {

constexpr size_t kZiplistHeader = 10;
constexpr uint8_t kLongPrevious = 0xFE;  // the length of the entry before follows in four bytes

}  // namespace

ZiplistReader::ZiplistReader(std::string_view blob) : PackedReader(blob) {
  if (blob.size() < kZiplistHeader + 1 || Unsigned(0, 4) != blob.size()) {
    Fail("ziplist: its length is wrong");
  } else if (At(blob.size() - 1) != kPackedEnd) {
    Fail("ziplist: it has no end");
  }
  place_ = last_entry_ = kZiplistHeader;
}

bool ZiplistReader::Next(StoredText& element) {
  if (!good()) return false;
  if (place_ + 1 == blob_.size()) return End();
  const size_t begin = place_;
  if (!PassPreviousLength() || !Decode(element)) return false;
  // The last byte of the blob is its end.
  if (!Has(1)) return Fail("ziplist: an entry that is longer than it");
  last_entry_ = begin;
  ++count_;
  return true;
}

bool ZiplistReader::End() {
  if (Unsigned(4, 4) != last_entry_) return Fail("ziplist: its last entry is elsewhere");
  const uint64_t counted = Unsigned(8, 2);
  if (counted != kUncounted && counted != count_) return Fail("ziplist: its count is wrong");
  return false;
}

bool ZiplistReader::PassPreviousLength() {
  const size_t previous = count_ == 0 ? 0 : place_ - last_entry_;
  uint64_t said = At(place_);
  size_t bytes = 1;
  if (said == kLongPrevious) {
    bytes = 5;
    if (!Has(bytes)) return Fail("ziplist: an entry that is longer than it");
    said = Unsigned(place_ + 1, 4);
  }
  if (said != previous) return Fail("ziplist: the length of an entry before is wrong");
  place_ += bytes;
  return Has(2) || Fail("ziplist: an entry that is longer than it");
}

bool ZiplistReader::Text(size_t head, uint64_t length, StoredText& element) {
  if (!Has(head + length)) return Fail("ziplist: a text that is longer than it");
  element.Set(blob_.substr(place_ + head, length));
  place_ += head + length;
  return true;
}

bool ZiplistReader::Number(size_t bytes, StoredText& element) {
  if (!Has(1 + bytes)) return Fail("ziplist: a number that is longer than it");
  element.Set(Signed(place_ + 1, bytes));
  place_ += 1 + bytes;
  return true;
}

bool ZiplistReader::Decode(StoredText& element) {
  const uint8_t first = At(place_);
  switch (first >> 6) {
    case 0:
      return Text(1, first & 0x3F, element);
    case 1:
      return Text(2, static_cast<uint64_t>(first & 0x3F) << 8 | At(place_ + 1), element);
    case 2: {
      if (!Has(5)) return Fail("ziplist: an entry that is longer than it");
      uint64_t length = 0;
      for (size_t i = 1; i <= 4; ++i) length = length << 8 | At(place_ + i);
      return Text(5, length, element);
    }
    default:
      break;
  }
  switch (first) {
    case 0xC0:
      return Number(2, element);
    case 0xD0:
      return Number(4, element);
    case 0xE0:
      return Number(8, element);
    case 0xF0:
      return Number(3, element);
    case 0xFE:
      return Number(1, element);
    default:
      break;
  }
  // The numbers 0 to 12 are in the byte itself.
  if (first < 0xF1 || first > 0xFD) return Fail("ziplist: an unknown encoding");
  element.Set(int64_t{first - 0xF1});
  ++place_;
  return true;
}

// --- zipmap: u8 count, then length field length spare-count value spare-bytes, 0xFF ---

ZipmapReader::ZipmapReader(std::string_view blob) : PackedReader(blob) {
  if (blob.size() < 2) {
    Fail("zipmap: it is too short");
  } else if (At(blob.size() - 1) != kPackedEnd) {
    Fail("zipmap: it has no end");
  }
  place_ = 1;
}

bool ZipmapReader::Length(uint64_t& length) {
  length = At(place_);
  size_t bytes = 1;
  if (length == 254) {
    bytes = 5;
    if (!Has(bytes)) return Fail("zipmap: an entry that is longer than it");
    length = Unsigned(place_ + 1, 4);
  } else if (length == 255) {
    return Fail("zipmap: it ends early");
  }
  place_ += bytes;
  return true;
}

bool ZipmapReader::End() {
  if (is_value_) return Fail("zipmap: a field without a value");
  // A count of 254 or more is not kept.
  if (At(0) < 254 && At(0) != count_) return Fail("zipmap: its count is wrong");
  return false;
}

bool ZipmapReader::Next(StoredText& element) {
  if (!good()) return false;
  if (place_ + 1 == blob_.size()) return End();
  uint64_t length = 0;
  if (!Length(length)) return false;
  uint64_t spare = 0;
  if (is_value_) {
    if (!Has(1)) return Fail("zipmap: an entry that is longer than it");
    spare = At(place_++);
  }
  // The last byte of the blob is its end.
  if (!Has(length + spare + 1)) return Fail("zipmap: an entry that is longer than it");
  element.Set(blob_.substr(place_, length));
  place_ += length + spare;
  if (!is_value_) ++count_;
  is_value_ = !is_value_;
  return true;
}

// --- intset: u32 bytes of an integer, u32 count, the integers, rising ---

namespace {

constexpr size_t kIntsetHeader = 8;

}  // namespace

IntsetReader::IntsetReader(std::string_view blob) : PackedReader(blob) {
  place_ = kIntsetHeader;
  if (blob.size() < kIntsetHeader) {
    Fail("intset: it is too short");
    return;
  }
  width_ = Unsigned(0, 4);
  const bool known = width_ == 2 || width_ == 4 || width_ == 8;
  if (!known) {
    Fail("intset: an unknown encoding");
  } else if (Unsigned(4, 4) * width_ != blob.size() - kIntsetHeader) {
    Fail("intset: its length is wrong");
  }
}

bool IntsetReader::Next(StoredText& element) {
  if (!good() || place_ == blob_.size()) return false;
  const int64_t value = Signed(place_, width_);
  if (place_ > kIntsetHeader && value <= last_) return Fail("intset: its integers do not rise");
  last_ = value;
  place_ += width_;
  element.Set(value);
  return true;
}

}  // namespace tally::rdb
