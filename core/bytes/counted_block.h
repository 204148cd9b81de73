// Blocks of memory that know how many owners they have, so that a reply can hold a large element of
// a value without a copy, whatever becomes of the value meanwhile. Whoever wants to change bytes
// that were handed out copies a block first that has other owners. Text does the same for whole
// strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tally {

// In front of the block lies the number of its owners.
namespace counted_block {

// A block of `bytes` with one owner.
[[nodiscard]] char* New(size_t bytes);
// `block` must have one owner. Keeps the content up to the smaller of the two sizes.
[[nodiscard]] char* Resize(char* block, size_t bytes);
bool IsShared(const char* block);
void AddOwner(const char* block);
// Frees the block if this was its last owner.
void RemoveOwner(const char* block);

}  // namespace counted_block

// A view of an element of a value. `block` is the counted block in which the bytes lie, or null.
struct ElementView : std::string_view {
  // Shorter elements are copied.
  static constexpr size_t kShareable = size_t{64} << 10;

  constexpr ElementView() = default;
  constexpr ElementView(std::string_view bytes, const char* block_in = nullptr)
      : std::string_view(bytes), block(block_in) {}
  bool shareable() const { return block != nullptr && size() >= kShareable; }

  const char* block = nullptr;
};

// The memory of one element or several, in one word. It is a counted block if it is large.
class ElementBlock {
 public:
  ElementBlock() = default;
  // Uninitialised.
  explicit ElementBlock(size_t bytes);
  ElementBlock(ElementBlock&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  ElementBlock& operator=(ElementBlock&& other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~ElementBlock() {
    if (word_ != 0) Free();
  }

  char* get() const { return reinterpret_cast<char*>(word_ & ~kCounted); }
  // For ElementView.
  const char* block() const { return (word_ & kCounted) != 0 ? get() : nullptr; }
  bool is_shared() const { return (word_ & kCounted) != 0 && counted_block::IsShared(get()); }

  // For a record that holds the word: the block's ownership goes there, and comes back.
  [[nodiscard]] uintptr_t Release() { return std::exchange(word_, 0); }
  static ElementBlock Adopt(uintptr_t word) {
    ElementBlock block;
    block.word_ = word;
    return block;
  }

 private:
  static constexpr uintptr_t kCounted = 1;

  void Free();

  uintptr_t word_ = 0;  // the address, with kCounted if it is a counted block
};

}  // namespace tally
