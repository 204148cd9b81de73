// Bytes in blocks, for what is appended at one end and taken from the other, as the output of a
// client and the log's unwritten bytes are. A string of megabytes that grows, or loses its front,
// copies all of it and holds up everybody for milliseconds; here nothing that was appended moves,
// and large messages are held once for all who are to get them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/text.h"

namespace tally {

// Bytes that never change again, which many ByteBlocks may hold at once.
class SharedBytes {
 public:
  SharedBytes() = default;
  // O(1).
  explicit SharedBytes(Text bytes);
  size_t size() const { return size_; }

 private:
  friend class ByteBlocks;
  struct Piece {
    std::shared_ptr<char[]> block;  // where the bytes are
    const char* data;
    size_t size;
  };
  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

class ByteBlocks {
 public:
  // The first blocks are smaller, each twice as large as the one before. A little is left of a
  // power of two for the block's own count.
  static constexpr size_t kBlockBytes = 64 * 1024 - 64;
  static constexpr size_t kFirstBlockBytes = 512 - 64;
  // What is shorter is copied rather than shared: a piece of its own costs more.
  static constexpr size_t kSharedFrom = 1024;
  // The most that Room gives.
  static constexpr size_t kMostRoom = 256;

  ByteBlocks() = default;
  ByteBlocks(ByteBlocks&& other) noexcept;
  ByteBlocks& operator=(ByteBlocks&& other) noexcept;
  ~ByteBlocks() = default;

  // O(bytes).
  void Append(std::string_view bytes) {
    if (bytes.size() > room()) [[unlikely]]
      return AppendToBlocks(bytes);
    end_ = std::copy(bytes.begin(), bytes.end(), end_);
  }
  // O(pieces), or O(bytes) when they are few.
  void Append(const SharedBytes& bytes);

  // Where up to `bytes` may be written; what was written becomes part with Commit.
  char* Room(size_t bytes) {
    if (bytes > room()) [[unlikely]]
      AddBlock(bytes);
    return end_;
  }
  void Commit(char* end) { end_ = end; }

  // Puts bytes, at most kMostRoom, in at a position that counts from the first byte held. Moves at
  // most one block.
  void Insert(size_t position, std::string_view bytes);
  // Drops what is after the first `size` bytes.
  void Truncate(size_t size);
  // Drops what is before. The blocks are freed one by one.
  void Consume(size_t bytes) {
    if (bytes == open_bytes() && sealed_bytes_ == 0 && block_.use_count() == 1) [[likely]] {
      open_ = end_ = block_.get();
    } else {
      ConsumeBlocks(bytes);
    }
  }
  // Keeps one block for what comes next.
  void Clear();
  // All of them, for others to hold too. Leaves nothing here.
  SharedBytes Share();

  size_t size() const { return sealed_bytes_ + open_bytes(); }
  bool empty() const { return size() == 0; }
  char operator[](size_t position) const {
    return position >= sealed_bytes_ ? open_[position - sealed_bytes_] : SealedByte(position);
  }
  // How many pieces in a row they lie in.
  size_t pieces() const { return sealed_.size() - consumed_ + (open_bytes() > 0 ? 1 : 0); }
  // The first of them, as many as fit and as make up at most `most` bytes; returns how many.
  size_t Front(std::span<std::string_view> into, size_t most = SIZE_MAX) const;
  // At most `most` bytes from `position` on.
  std::string Copy(size_t position, size_t most) const;
  std::string Joined() const { return Copy(0, size()); }
  // All of them in one piece: where they are, or copied to `joined` when they lie in several.
  std::string_view View(std::string& joined) const;
  // What they take of the heap; what is shared counts in full.
  size_t heap_bytes() const {
    return size() + room() + sealed_.capacity() * sizeof(SharedBytes::Piece);
  }

  // With more than this, give or take a block, everything is dropped, and so is what is appended
  // from then on until Clear: whoever appends need not ask, and cannot use up the memory.
  void set_most(size_t most) { most_ = most; }
  bool overflowed() const { return overflowed_; }
  void Overflow();

 private:
  using Piece = SharedBytes::Piece;

  size_t room() const { return static_cast<size_t>(limit_ - end_); }
  size_t open_bytes() const { return static_cast<size_t>(end_ - open_); }
  void AppendToBlocks(std::string_view bytes);
  void ConsumeBlocks(size_t bytes);
  void AddBlock(size_t bytes);
  // The open bytes become a piece.
  void Seal();
  void Rewind();
  size_t PieceAt(size_t& position) const;
  size_t Divide(size_t position);
  char SealedByte(size_t position) const;

  // The open bytes, from open_ to end_, are the last ones; they can grow until limit_, where their
  // block ends. Those before them are in pieces, of which the first consumed_ are gone.
  std::shared_ptr<char[]> block_;
  char* open_ = nullptr;
  char* end_ = nullptr;
  char* limit_ = nullptr;
  std::vector<Piece> sealed_;
  size_t consumed_ = 0;
  size_t sealed_bytes_ = 0;
  size_t most_ = SIZE_MAX;
  bool overflowed_ = false;
};

}  // namespace tally
