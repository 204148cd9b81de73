// A queue of bytes, held in blocks: bytes are appended at one end and taken from the other. It
// holds the output of a client and the unwritten bytes of the log. A string of megabytes copies all
// its bytes when it grows or loses its front, which stops everybody for milliseconds. Here appended
// bytes do not move when others come or go, and a large message is held once for all its receivers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

class Text;
struct ElementView;

// Bytes that never change again; many ByteBlocks may hold the same ones.
class SharedBytes {
 public:
  SharedBytes() = default;
  // The bytes from `begin` on, at most `most`. O(1).
  explicit SharedBytes(Text bytes, size_t begin = 0, size_t most = SIZE_MAX);
  // The bytes of an element that is shareable(). O(1).
  explicit SharedBytes(const ElementView& element);
  size_t size() const { return size_; }

 private:
  friend class ByteBlocks;
  struct Piece {
    std::shared_ptr<char[]> block;  // owns the bytes
    const char* data;
    size_t size;
  };
  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

class ByteBlocks {
 public:
  // The largest and the first block; up to the largest, each is at least twice the one before. Both
  // sizes are 64 bytes below a power of two, to leave room for the block's reference count.
  static constexpr size_t kBlockBytes = 64 * 1024 - 64;
  static constexpr size_t kFirstBlockBytes = 512 - 64;
  // Shorter messages are copied, not shared: a piece of their own costs more.
  static constexpr size_t kSharedFrom = 1024;
  // The most bytes that may be asked of Room(), which does not check this.
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
  // O(pieces); O(bytes) if they are fewer than kSharedFrom, as those are copied.
  void Append(const SharedBytes& bytes);

  // Returns where up to `bytes` bytes may be written; Commit(end of what was written) appends them.
  char* Room(size_t bytes) {
    if (bytes > room()) [[unlikely]]
      AddBlock(bytes);
    return end_;
  }
  void Commit(char* end) { end_ = end; }

  // Inserts bytes, at most kMostRoom (asserted), at `position`, counted from the first byte held.
  // Moves at most one block.
  void Insert(size_t position, std::string_view bytes);
  // Drops the bytes after the first `size` ones.
  void Truncate(size_t size);
  // Drops the first `bytes` bytes; a block is freed when all its bytes are dropped.
  void Consume(size_t bytes) {
    if (bytes == open_bytes() && sealed_bytes_ == 0 && block_.use_count() == 1) [[likely]] {
      open_ = end_ = block_.get();
    } else {
      ConsumeBlocks(bytes);
    }
  }
  // Drops all bytes and ends an overflow. Keeps one block for the next bytes.
  void Clear();
  // Moves all bytes out as pieces that other objects may share; this object is empty afterwards.
  SharedBytes Share();

  size_t size() const { return sealed_bytes_ + open_bytes(); }
  bool empty() const { return size() == 0; }
  char operator[](size_t position) const {
    return position >= sealed_bytes_ ? open_[position - sealed_bytes_] : SealedByte(position);
  }
  // The number of pieces that the bytes are in.
  size_t pieces() const { return sealed_.size() - consumed_ + (open_bytes() > 0 ? 1 : 0); }
  // Writes views of the first pieces to `into`, as many as fit and at most `most` bytes in all;
  // returns how many views.
  size_t Front(std::span<std::string_view> into, size_t most = SIZE_MAX) const;
  // Copies at most `most` bytes from `position` on.
  std::string Copy(size_t position, size_t most) const;
  std::string Joined() const { return Copy(0, size()); }
  // Returns all bytes in one piece: in place, or copied to `joined` if they are in several pieces.
  std::string_view View(std::string& joined) const;
  // The bytes used on the heap; shared bytes count in full.
  size_t heap_bytes() const {
    return size() + room() + sealed_.capacity() * sizeof(SharedBytes::Piece);
  }

  // Limits the size: if more than `most` bytes are held when a block or shared bytes are to be
  // added, all bytes are dropped, and so is everything that is appended until Clear(). So a caller
  // need not check before it appends, and cannot use up the memory.
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
  // Makes a piece of the open bytes.
  void Seal();
  void Rewind();
  size_t PieceAt(size_t& position) const;
  size_t Divide(size_t position);
  char SealedByte(size_t position) const;

  // The open bytes, from open_ to end_, are the last ones. They can grow until limit_, where their
  // block ends. The bytes before them are in pieces, of which the first consumed_ are used up.
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
