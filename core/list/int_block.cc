#include "core/list/int_block.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "core/bytes/bit_field.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

constexpr int kSlopeBits = 8;

uint64_t Rise(int32_t slope, size_t slot) {
  return static_cast<uint64_t>((int64_t{slope} * static_cast<int64_t>(slot)) >> kSlopeBits);
}

// The lowest and highest distance of values from a line that is 0 at slot 0. BandAround puts the
// first value at `slot`.
struct Band {
  int64_t low;
  int64_t high;

  uint64_t range() const { return static_cast<uint64_t>(high) - static_cast<uint64_t>(low); }
};

Band BandAround(int32_t slope, const int64_t* values, size_t count, size_t slot) {
  Band band{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (size_t i = 0; i < count; ++i) {
    const auto distance =
        static_cast<int64_t>(static_cast<uint64_t>(values[i]) - Rise(slope, slot + i));
    band.low = std::min(band.low, distance);
    band.high = std::max(band.high, distance);
  }
  return band;
}

// The slope from the first value to the last.
int32_t ChordSlope(const int64_t* values, size_t count) {
  if (count < 2) return 0;
  const double rise = static_cast<double>(values[count - 1]) - static_cast<double>(values[0]);
  const double slope = std::ldexp(rise / static_cast<double>(count - 1), kSlopeBits);
  if (std::abs(slope) > std::numeric_limits<int32_t>::max()) return 0;
  return static_cast<int32_t>(slope);
}

}  // namespace

size_t RemoveEqual(int64_t* values, size_t size, int64_t value, size_t first, size_t count) {
  size_t equals = 0;
  size_t left = 0;
  for (size_t i = 0; i < size; ++i) {
    if (values[i] == value && equals++ >= first && count > 0) {
      --count;
    } else {
      values[left++] = values[i];
    }
  }
  return left;
}

size_t IntBlock::slots() const {
  return width_ == 0 ? kMaxEntries : std::min(kMaxEntries, capacity() * 8 / width_);
}

int64_t IntBlock::Line(size_t slot) const {
  return static_cast<int64_t>(static_cast<uint64_t>(base_) + Rise(slope_, slot));
}

int64_t IntBlock::At(size_t i) const {
  const size_t slot = head_ + i;
  return static_cast<int64_t>(static_cast<uint64_t>(Line(slot)) +
                              ReadBitField(bits_.get(), capacity(), slot, width_));
}

void IntBlock::Read(size_t from, size_t to, int64_t* out) const {
  for (size_t i = from; i < to; ++i) *out++ = At(i);
}

bool IntBlock::Store(size_t slot, int64_t value) {
  const uint64_t residual = static_cast<uint64_t>(value) - static_cast<uint64_t>(Line(slot));
  if (residual > LowBits(width_)) return false;
  WriteBitField(bits_.get(), capacity(), slot, width_, residual);
  return true;
}

void IntBlock::Encode(const int64_t* values, size_t count, Room room) {
  const Band flat = BandAround(0, values, count, 0);
  const int32_t chord = ChordSlope(values, count);
  const Band tilted = BandAround(chord, values, count, 0);
  slope_ = tilted.range() <= flat.range() ? chord : 0;
  auto width = static_cast<unsigned>(std::bit_width(std::min(tilted.range(), flat.range())));
  // A block that will grow gets a spare bit, so that few later values make it wider again. The bit
  // also covers the rounding of the line when entries do not begin at slot 0.
  if (room != Room::kNone) width = std::min(width + 1, 64U);
  width_ = static_cast<uint8_t>(width);

  const size_t wanted = room == Room::kNone ? count : std::min(kMaxEntries, count + count / 4 + 4);
  const size_t bytes = (HeapBytes(BitFieldBytes(wanted, width)) + kUnit - 1) / kUnit * kUnit;
  units_ = static_cast<uint8_t>(bytes / kUnit);
  bits_ = bytes == 0 ? nullptr : std::make_unique<uint8_t[]>(bytes);
  count_ = static_cast<uint8_t>(count);
  head_ = static_cast<uint8_t>(room == Room::kFront ? slots() - count : 0);

  const Band band = BandAround(slope_, values, count, head_);
  const uint64_t spare = LowBits(width) - band.range();
  base_ = static_cast<int64_t>(static_cast<uint64_t>(band.low) - spare / 2);
  for (size_t i = 0; i < count; ++i)
    Check(Store(head_ + i, values[i]), "a residual fits its block");
}

void IntBlock::Assign(const int64_t* values, size_t count) {
  Check(count <= kMaxEntries, "a block holds its entries");
  if (count == 0) {
    *this = IntBlock();
    return;
  }
  Encode(values, count, Room::kNone);
}

// A full block often stays unchanged for long, so it is coded once more with the fewest bits.
void IntBlock::Seal() {
  int64_t values[kMaxEntries];
  Read(0, count_, values);
  Encode(values, count_, Room::kNone);
}

bool IntBlock::PushBack(int64_t value) {
  const size_t slot = head_ + size_t{count_};
  // Coding the block again would free the head_ slots. For less than a quarter of the block it
  // would be coded again too often.
  if (slot >= kMaxEntries && head_ < kMaxEntries / 4) return false;
  if (slot < slots() && Store(slot, value)) {
    ++count_;
    if (count_ == kMaxEntries) Seal();
    return true;
  }
  int64_t values[kMaxEntries];
  Read(0, count_, values);
  values[count_] = value;
  const size_t count = count_ + size_t{1};
  Encode(values, count, count == kMaxEntries ? Room::kNone : Room::kBack);
  return true;
}

bool IntBlock::PushFront(int64_t value) {
  const size_t used = head_ + size_t{count_};
  if (head_ == 0 &&
      (count_ == kMaxEntries || (slots() == kMaxEntries && kMaxEntries - used < kMaxEntries / 4))) {
    return false;
  }
  if (head_ > 0 && Store(head_ - 1, value)) {
    --head_;
    ++count_;
    if (count_ == kMaxEntries) Seal();
    return true;
  }
  int64_t values[kMaxEntries];
  values[0] = value;
  Read(0, count_, values + 1);
  const size_t count = count_ + size_t{1};
  Encode(values, count, count == kMaxEntries ? Room::kNone : Room::kFront);
  return true;
}

void IntBlock::DropFront(size_t count) {
  Check(count <= count_, "a block gives up no more than it has");
  head_ = static_cast<uint8_t>(head_ + count);
  count_ = static_cast<uint8_t>(count_ - count);
  // Frees the memory of dropped entries in steps of a quarter block.
  if (head_ < kMaxEntries / 4) return;
  int64_t values[kMaxEntries];
  Read(0, count_, values);
  Assign(values, count_);
}

void IntBlock::DropBack(size_t count) {
  Check(count <= count_, "a block gives up no more than it has");
  count_ = static_cast<uint8_t>(count_ - count);
  if (2 * BitFieldBytes(head_ + size_t{count_}, width_) > capacity()) return;
  int64_t values[kMaxEntries];
  Read(0, count_, values);
  Assign(values, count_);
}

void IntBlock::Set(size_t i, int64_t value) {
  if (Store(head_ + i, value)) return;
  int64_t values[kMaxEntries];
  Read(0, count_, values);
  values[i] = value;
  Encode(values, count_, count_ == kMaxEntries ? Room::kNone : Room::kBack);
}

size_t IntBlock::CountEqual(int64_t value) const {
  size_t equal = 0;
  for (size_t i = 0; i < count_; ++i) equal += At(i) == value ? 1 : 0;
  return equal;
}

void IntBlock::RemoveEqual(int64_t value, size_t first, size_t count) {
  int64_t values[kMaxEntries];
  Read(0, count_, values);
  Assign(values, tally::RemoveEqual(values, count_, value, first, count));
}

IntBlock IntBlock::Like(const IntBlock& neighbour, int64_t first, bool at_front) {
  IntBlock block;
  block.slope_ = neighbour.slope_;
  block.width_ = neighbour.width_;
  block.units_ = neighbour.units_;
  if (block.units_ > 0) block.bits_ = std::make_unique<uint8_t[]>(block.capacity());
  const size_t slot = at_front ? block.slots() - 1 : 0;
  block.base_ = static_cast<int64_t>(static_cast<uint64_t>(first) - Rise(block.slope_, slot) -
                                     LowBits(block.width_) / 2);
  block.head_ = static_cast<uint8_t>(slot);
  block.count_ = 1;
  Check(block.Store(slot, first), "the middle of the band fits");
  return block;
}

IntBlock IntBlock::Clone() const {
  IntBlock copy;
  copy.base_ = base_;
  copy.slope_ = slope_;
  copy.head_ = head_;
  copy.count_ = count_;
  copy.width_ = width_;
  copy.units_ = units_;
  if (bits_ != nullptr) {
    copy.bits_ = std::make_unique_for_overwrite<uint8_t[]>(capacity());
    std::copy_n(bits_.get(), capacity(), copy.bits_.get());
  }
  return copy;
}

size_t IntBlock::HeapUse() const { return HeapBytes(capacity()); }

}  // namespace tally
