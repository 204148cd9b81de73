// A byte string that may be hundreds of megabytes large and is changed in place.
//
// A std::string moves all its bytes when it grows. This one grows in place if the allocator has
// room after it, which is usual for large blocks; so appending to 100 MB takes no longer than to
// 100 bytes. It can also take over a part of another text's memory, so that a value is not copied
// out of the buffer in which it was received; and large texts can share their memory, so that a
// value is not copied into the replies that hold it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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
  // From this capacity on, texts can share their memory.
  static constexpr size_t kShareable = 64 * 1024 - 16;
  // What the count of the texts that share takes of a block. It keeps the bytes aligned.
  static constexpr size_t kCountBytes = 16;
  // Returns a text with the same bytes. It shares the memory if the capacity is kShareable or more,
  // and copies it otherwise. Each text that shares keeps its bytes when another one changes: to
  // change bytes, a text copies all of them first. Appending within the capacity copies nothing, so
  // only one of the texts may be appended to.
  Text Share() const;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Where the bytes may be changed.
  char* data() {
    if (shared()) [[unlikely]]
      Unshare();
    return block_ + begin_;
  }
  char& operator[](size_t i) { return data()[i]; }
  std::string_view view() const { return {block_ + begin_, size_}; }
  operator std::string_view() const { return view(); }
  // The size up to which it can grow without the allocator.
  size_t capacity() const { return capacity_ - begin_; }

  // Amortised O(bytes), but O(size) if a large block cannot grow in place. `bytes` must not lie
  // inside this text.
  void Append(std::string_view bytes);
  // Returns where up to `bytes` more bytes may be written; Commit() then appends those written.
  char* Room(size_t bytes) {
    Reserve(size_ + bytes);
    return block_ + begin_ + size_;
  }
  void Commit(size_t bytes) { size_ += bytes; }
  // Added bytes are zeros. Large amounts come from the system as zeros and are not touched.
  void Resize(size_t size);
  // Replaces `count` bytes from `at` on (inside the text, asserted) by `bytes`, which must not lie
  // inside this text. O(size).
  void Replace(size_t at, size_t count, std::string_view bytes);
  // Drops the first `count` bytes (asserted to exist). O(1); later appends reuse their memory.
  void DropFront(size_t count);
  // Makes the capacity at least this many bytes, rounded up as the allocator does.
  void Reserve(size_t bytes);

  // If `part` lies in this text, has 16 KiB or more and is at least three quarters of the
  // allocation, which no other text shares, returns it as a text that takes over the allocation,
  // and this text becomes empty. Views into the old text stay valid until the new one changes.
  // Otherwise returns an empty text and changes nothing.
  Text Take(std::string_view part);

  // Bytes on the heap, rounded to size classes.
  size_t MemoryBytes() const;

 private:
  // A text without bytes, with a block of at least `bytes`.
  enum class Content { kAny, kZeros };
  static Text WithCapacity(size_t bytes, Content content);

  void Swap(Text& other) noexcept;
  void MakeRoom(size_t bytes);
  // Moves the bytes to a block of their own, with room for `bytes`.
  void Move(size_t bytes);
  void Free();
  bool counted() const { return capacity_ >= kShareable; }
  size_t count_bytes() const { return counted() ? kCountBytes : 0; }
  std::atomic<uint32_t>& owners() const;
  bool shared() const { return counted() && owners().load(std::memory_order_acquire) > 1; }
  void Unshare() { Move(capacity()); }

  // A block of kShareable bytes or more has the number of its owners in front of it.
  char* block_ = nullptr;
  size_t begin_ = 0;  // where the bytes begin in the block
  size_t size_ = 0;
  size_t capacity_ = 0;  // the size of the block
};

inline std::atomic<uint32_t>& Text::owners() const {
  return *reinterpret_cast<std::atomic<uint32_t>*>(block_ - kCountBytes);
}

}  // namespace tally
