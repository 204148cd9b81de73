// A byte string that may be hundreds of megabytes large and is changed in place.
//
// A std::string moves all its bytes when it grows. This one grows where it lies if the allocator
// has room there, which for large blocks is the rule, so that appending to 100 MB takes no longer
// than to 100 bytes. And it can take over a part of another one's memory, so that a value is not
// copied out of the buffer in which it was received.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace tally {

class Text {
 public:
  Text() = default;
  // Allocates no more than is needed.
  explicit Text(std::string_view bytes) { Append(bytes); }
  Text(Text&& other) noexcept { Swap(other); }
  Text& operator=(Text&& other) noexcept {
    Text taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~Text() {
    if (block_ != nullptr) Free();
  }
  Text Clone() const { return Text(view()); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char* data() { return block_ + begin_; }
  char& operator[](size_t i) { return data()[i]; }
  std::string_view view() const { return {block_ + begin_, size_}; }
  operator std::string_view() const { return view(); }
  // The size up to which it grows without asking the allocator.
  size_t capacity() const { return capacity_ - begin_; }

  // Amortised O(bytes), unless there is no room after a large block. `bytes` must not lie inside.
  void Append(std::string_view bytes);
  // Where Commit expects up to `bytes` more, which exist from then on.
  char* Room(size_t bytes) {
    Reserve(size_ + bytes);
    return data() + size_;
  }
  void Commit(size_t bytes) { size_ += bytes; }
  // What is added is zeros: memory that nobody has used yet is not touched.
  void Resize(size_t size);
  // Puts `bytes`, which must not lie inside, in the place of `count` bytes from `at` on. O(size).
  void Replace(size_t at, size_t count, std::string_view bytes);
  // O(1); the memory is used again by what is appended.
  void DropFront(size_t count);
  // Has a capacity of at least this many bytes from now on, rounded up as the allocator does.
  void Reserve(size_t bytes);

  // If `part` lies in here and is most of the allocation, gives it away with the allocation: it is
  // the text that is returned, and this one is empty. Views of both, whatever they show, are good
  // until the new one changes. Otherwise the text returned is empty, and nothing has changed.
  Text Take(std::string_view part);

  // Bytes on the heap, rounded to size classes.
  size_t MemoryBytes() const;

 private:
  void Swap(Text& other) noexcept;
  void MakeRoom(size_t bytes);
  void Free();

  char* block_ = nullptr;
  size_t begin_ = 0;  // of the bytes, in the block
  size_t size_ = 0;
  size_t capacity_ = 0;  // of the block
};

}  // namespace tally
