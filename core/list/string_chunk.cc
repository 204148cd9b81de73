#include "core/list/string_chunk.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

constexpr size_t kSmallestAllocation = 32;

}  // namespace

StringChunk::StringChunk(IntBlock numbers)
    : numbers_(std::make_unique<IntBlock>(std::move(numbers))),
      count_(static_cast<uint32_t>(numbers_->size())) {}

void StringChunk::Spell() {
  if (numbers_ == nullptr) return;
  const std::unique_ptr<IntBlock> numbers = std::move(numbers_);
  count_ = 0;
  for (size_t i = 0; i < numbers->size(); ++i) Insert(i, Int64Text(numbers->At(i)).view());
}

void StringChunk::AppendAt(size_t i, std::string& out) const {
  if (numbers_ == nullptr) {
    out.append(EntryAt(OffsetOf(i)));
  } else {
    AppendInt64(out, numbers_->At(i));
  }
}

size_t StringChunk::EntryBytes(size_t length) { return length + 2 * VarintBytes(length); }

bool StringChunk::HasRoomFor(size_t length) const {
  return count_ == 0 || used() + EntryBytes(length) <= kBytes;
}

ElementView StringChunk::EntryAt(size_t offset) const {
  std::string_view rest(bytes_.get() + offset, end_ - offset);
  uint64_t length = 0;
  Check(ReadVarint(rest, length), "an entry begins with its length");
  return {rest.substr(0, length), bytes_.block()};
}

size_t StringChunk::OffsetBefore(size_t offset) const {
  const char* last = bytes_.get() + offset - 1;
  uint64_t length = 0;
  for (unsigned shift = 0;; shift += 7, --last) {
    const auto byte = static_cast<uint8_t>(*last);
    length |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return offset - EntryBytes(length);
}

size_t StringChunk::OffsetOf(size_t i) const {
  size_t offset = begin_;
  if (i <= count_ / 2) {
    for (; i > 0; --i) offset += EntryBytes(EntryAt(offset).size());
    return offset;
  }
  offset = end_;
  for (; i < count_; ++i) offset = OffsetBefore(offset);
  return offset;
}

size_t StringChunk::Relocate(size_t capacity, size_t offset, size_t hole) {
  ElementBlock moved(capacity);
  const size_t before = offset - begin_;
  const size_t after = end_ - offset;
  const size_t total = before + hole + after;
  // The free room is left at the end at which an entry is being added.
  const size_t begin = before == 0 && after > 0 && hole > 0 ? capacity - total : 0;
  if (before > 0) std::memcpy(moved.get() + begin, bytes_.get() + begin_, before);
  if (after > 0) {
    std::memcpy(moved.get() + begin + before + hole, bytes_.get() + offset, after);
  }
  bytes_ = std::move(moved);
  capacity_ = static_cast<uint32_t>(capacity);
  begin_ = static_cast<uint32_t>(begin);
  end_ = static_cast<uint32_t>(begin + total);
  return begin + before;
}

size_t StringChunk::OpenGap(size_t offset, size_t size) {
  // Others may read the bytes that are overwritten otherwise.
  if (bytes_.is_shared()) return Relocate(HeapBytes(used() + size), offset, size);
  if (offset == begin_ && begin_ >= size) {
    begin_ -= static_cast<uint32_t>(size);
    return begin_;
  }
  if (capacity_ - end_ >= size && (offset != begin_ || count_ == 0)) {
    char* at = bytes_.get() + offset;
    if (offset < end_) std::memmove(at + size, at, end_ - offset);
    end_ += static_cast<uint32_t>(size);
    return offset;
  }
  const size_t needed = used() + size;
  const size_t roomy = std::max(kSmallestAllocation, std::min(kBytes, needed + needed / 2));
  return Relocate(HeapBytes(std::max(needed, roomy)), offset, size);
}

void StringChunk::ShrinkToUse() {
  if (numbers_ == nullptr && count_ > 0 && capacity_ > 2 * kSmallestAllocation &&
      used() * 4 < capacity_) {
    Relocate(std::max(HeapBytes(used()), kSmallestAllocation), end_, 0);
  }
}

void StringChunk::Insert(size_t i, std::string_view text) {
  Check(text.size() <= kMaxEntryBytes, "an entry is at most 2 GiB long");
  Spell();
  const size_t offset = OpenGap(OffsetOf(i), EntryBytes(text.size()));
  char* out = bytes_.get() + offset;
  char length[kMaxVarintBytes];
  const char* length_end = WriteVarint(length, text.size());
  out = std::copy<const char*>(length, length_end, out);
  out = std::copy(text.begin(), text.end(), out);
  std::reverse_copy<const char*>(length, length_end, out);
  ++count_;
}

void StringChunk::DropFront(size_t count) {
  if (numbers_ == nullptr) {
    begin_ = static_cast<uint32_t>(OffsetOf(count));
  } else {
    numbers_->DropFront(count);
  }
  count_ -= static_cast<uint32_t>(count);
  ShrinkToUse();
}

void StringChunk::DropBack(size_t count) {
  if (numbers_ == nullptr) {
    end_ = static_cast<uint32_t>(OffsetOf(count_ - count));
  } else {
    numbers_->DropBack(count);
  }
  count_ -= static_cast<uint32_t>(count);
  ShrinkToUse();
}

void StringChunk::Erase(size_t i) {
  Spell();
  const size_t offset = OffsetOf(i);
  const size_t size = EntryBytes(EntryAt(offset).size());
  char* at = bytes_.get() + offset;
  std::memmove(at, at + size, end_ - offset - size);
  end_ -= static_cast<uint32_t>(size);
  --count_;
  ShrinkToUse();
}

StringChunk StringChunk::SplitFrom(size_t i) {
  Spell();
  StringChunk tail;
  const size_t offset = OffsetOf(i);
  const size_t size = end_ - offset;
  tail.Relocate(HeapBytes(size), 0, size);
  std::memcpy(tail.bytes_.get(), bytes_.get() + offset, size);
  tail.count_ = count_ - static_cast<uint32_t>(i);
  end_ = static_cast<uint32_t>(offset);
  count_ = static_cast<uint32_t>(i);
  ShrinkToUse();
  return tail;
}

void StringChunk::Append(const StringChunk& next) {
  const size_t offset = OpenGap(end_, next.used());
  std::memcpy(bytes_.get() + offset, next.bytes_.get() + next.begin_, next.used());
  count_ += next.count_;
}

size_t StringChunk::CountMatching(const Wanted& wanted) const {
  size_t count = 0;
  ForEach(0, count_, [&](auto entry) {
    count += wanted(entry) ? 1 : 0;
    return true;
  });
  return count;
}

void StringChunk::RemoveMatching(const Wanted& wanted, size_t first, size_t count) {
  if (numbers_ != nullptr) {
    numbers_->RemoveEqual(*wanted.number(), first, count);
    count_ = static_cast<uint32_t>(numbers_->size());
    return;
  }
  uint32_t to = begin_;
  uint32_t at = begin_;
  for (size_t matches = 0; at < end_;) {
    const std::string_view text = EntryAt(at);
    const auto size = static_cast<uint32_t>(EntryBytes(text.size()));
    if (wanted(text) && matches++ >= first && count > 0) {
      --count;
      --count_;
    } else {
      if (to != at) std::memmove(bytes_.get() + to, bytes_.get() + at, size);
      to += size;
    }
    at += size;
  }
  end_ = to;
  ShrinkToUse();
}

StringChunk StringChunk::Clone() const {
  if (numbers_ != nullptr) return StringChunk(numbers_->Clone());
  StringChunk copy;
  if (count_ > 0) copy.Append(*this);
  return copy;
}

size_t StringChunk::HeapUse() const {
  if (numbers_ == nullptr) return HeapBytes(capacity_);
  return HeapBytes(sizeof(IntBlock)) + numbers_->HeapUse();
}

}  // namespace tally
