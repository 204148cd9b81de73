#include "core/bytes/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

// Below this size, copying is as fast as taking over.
constexpr size_t kWorthTaking = 16 * 1024;
// From this size on, zeros are asked of the system instead of written.
constexpr size_t kManyZeros = 256 * 1024;

// Without memory, does as operator new: calls the process's handler, or throws if it has none.
template <typename Allocate>
char* Checked(Allocate&& allocate) {
  for (;;) {
    if (void* block = allocate()) return static_cast<char*>(block);
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

// The capacity of the block that is asked for when `bytes` are needed: the allocator's rounding is
// used up.
size_t CapacityFor(size_t bytes) {
  const size_t rounded = HeapBytes(bytes);
  if (rounded < Text::kShareable) return rounded;
  return HeapBytes(bytes + Text::kCountBytes) - Text::kCountBytes;
}
void Text::Free() {
  if (!counted()) return std::free(block_);
  if (owners().fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(block_ - kCountBytes);
}

void Text::Swap(Text& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(begin_, other.begin_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

void Text::Reserve(size_t bytes) {
  if (bytes > capacity()) MakeRoom(bytes);
}

Text Text::WithCapacity(size_t bytes, Content content) {
  Text text;
  text.capacity_ = CapacityFor(bytes);
  const size_t count = text.count_bytes();
  const size_t all = text.capacity_ + count;
  text.block_ = count + Checked([&] {
                  return content == Content::kZeros ? std::calloc(all, 1) : std::malloc(all);
                });
  if (count > 0) new (text.block_ - count) std::atomic<uint32_t>(1);
  return text;
}

void Text::Move(size_t bytes) {
  Text moved = WithCapacity(bytes, Content::kAny);
  if (size_ > 0) std::memcpy(moved.block_, view().data(), size_);
  moved.size_ = size_;
  Swap(moved);
}

void Text::MakeRoom(size_t bytes) {
  if (shared()) return Move(bytes);
  // Reuses the room of the dropped front first, unless the move of the rest would cost too much:
  // the front must be at least as long as the rest.
  if (begin_ > 0 && begin_ >= size_) {
    std::memmove(block_, block_ + begin_, size_);
    begin_ = 0;
    if (bytes <= capacity_) return;
  }
  // Rounding up is enough for amortised growth: size classes are an eighth apart or more.
  const size_t rounded = CapacityFor(begin_ + bytes);
  const size_t count = count_bytes();
  if (block_ == nullptr || (rounded >= kShareable) != counted()) return Move(begin_ + bytes);
  block_ = count + Checked([&] { return std::realloc(block_ - count, rounded + count); });
  capacity_ = rounded;
}

Text Text::Share() const {
  if (!counted()) return Clone();
  owners().fetch_add(1, std::memory_order_relaxed);
  Text other;
  other.block_ = block_;
  other.begin_ = begin_;
  other.size_ = size_;
  other.capacity_ = capacity_;
  return other;
}

void Text::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  Reserve(size_ + bytes.size());
  std::memcpy(block_ + begin_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

void Text::Resize(size_t size) {
  if (size > size_) {
    if (size > capacity() && size >= kManyZeros && size / 4 > size_) {
      // calloc() does not touch memory that is new from the system, as it is zero already.
      Text zeros = WithCapacity(size, Content::kZeros);
      if (size_ > 0) std::memcpy(zeros.block_, view().data(), size_);
      zeros.size_ = size;
      Swap(zeros);
      return;
    }
    Reserve(size);
    std::memset(block_ + begin_ + size_, 0, size - size_);
  } else if (size < size_ && shared()) {
    // The others need what follows.
    Unshare();
  }
  size_ = size;
}

void Text::Replace(size_t at, size_t count, std::string_view bytes) {
  Check(at <= size_ && count <= size_ - at, "what is replaced lies inside the text");
  const size_t tail = size_ - at - count;
  const size_t size = size_ - count + bytes.size();
  Reserve(size);
  if (tail > 0) std::memmove(data() + at + bytes.size(), data() + at + count, tail);
  if (!bytes.empty()) std::memcpy(data() + at, bytes.data(), bytes.size());
  size_ = size;
}

void Text::DropFront(size_t count) {
  Check(count <= size_, "no more is dropped than there is");
  size_ -= count;
  begin_ = size_ == 0 && !shared() ? 0 : begin_ + count;
}

Text Text::Take(std::string_view part) {
  Text taken;
  const auto address = reinterpret_cast<uintptr_t>(part.data());
  const auto begin = reinterpret_cast<uintptr_t>(block_) + begin_;
  const bool inside = address >= begin && address - begin < size_;
  if (!inside || shared() || part.size() < kWorthTaking ||
      part.size() < capacity_ - capacity_ / 4) {
    return taken;
  }
  const auto offset = static_cast<size_t>(part.data() - block_);
  Check(part.size() <= begin_ + size_ - offset, "a part lies inside its text");
  Swap(taken);
  taken.begin_ = offset;
  taken.size_ = part.size();
  return taken;
}

size_t Text::MemoryBytes() const { return HeapBytes(capacity_ + count_bytes()); }

}  // namespace tally
