#include "core/bytes/byte_blocks.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/counted_block.h"
#include "core/bytes/text.h"

namespace tally {
namespace {

// Extra room in the block of a large value, for what follows it, such as its line end.
constexpr size_t kTrailerBytes = 64;

}  // namespace

SharedBytes::SharedBytes(Text bytes, size_t begin, size_t most) {
  const auto owner = std::make_shared<const Text>(std::move(bytes));
  const std::string_view part = owner->view().substr(begin, most);
  // Only held, never written: other texts may share the bytes.
  const std::shared_ptr<char[]> block(owner, const_cast<char*>(owner->view().data()));
  pieces_.push_back({block, part.data(), part.size()});
  size_ = part.size();
}

SharedBytes::SharedBytes(const ElementView& element) {
  counted_block::AddOwner(element.block);
  // Only held, never written.
  const std::shared_ptr<char[]> block(const_cast<char*>(element.block),
                                      [](char* owned) { counted_block::RemoveOwner(owned); });
  pieces_.push_back({block, element.data(), element.size()});
  size_ = element.size();
}

ByteBlocks::ByteBlocks(ByteBlocks&& other) noexcept { *this = std::move(other); }

ByteBlocks& ByteBlocks::operator=(ByteBlocks&& other) noexcept {
  block_ = std::move(other.block_);
  open_ = std::exchange(other.open_, nullptr);
  end_ = std::exchange(other.end_, nullptr);
  limit_ = std::exchange(other.limit_, nullptr);
  sealed_ = std::exchange(other.sealed_, {});
  consumed_ = std::exchange(other.consumed_, 0);
  sealed_bytes_ = std::exchange(other.sealed_bytes_, 0);
  most_ = other.most_;
  overflowed_ = std::exchange(other.overflowed_, false);
  return *this;
}

// Fills the rest of the block first, so that small and large appends leave no gaps.
void ByteBlocks::AppendToBlocks(std::string_view bytes) {
  while (!bytes.empty()) {
    if (room() == 0) AddBlock(bytes.size() + kTrailerBytes);
    const size_t taken = std::min(bytes.size(), room());
    std::memcpy(end_, bytes.data(), taken);
    end_ += taken;
    bytes.remove_prefix(taken);
  }
}

void ByteBlocks::AddBlock(size_t bytes) {
  if (size() > most_) Overflow();
  if (overflowed_) {
    end_ = open_;
    if (bytes <= room() || room() == kBlockBytes) return;
  }
  Seal();
  // The size of the whole last block; 0 if there is none (Rewind() gives up a shared block).
  const size_t before = block_ == nullptr ? 0 : static_cast<size_t>(limit_ - block_.get());
  const size_t wanted = std::max({bytes, 2 * before, kFirstBlockBytes});
  const size_t capacity = std::min(wanted, kBlockBytes);
  block_ = std::make_shared_for_overwrite<char[]>(capacity);
  open_ = end_ = block_.get();
  limit_ = end_ + capacity;
}

void ByteBlocks::Seal() {
  if (open_bytes() == 0) return;
  sealed_.push_back({block_, open_, open_bytes()});
  sealed_bytes_ += open_bytes();
  open_ = end_;
}

// Drops all bytes. The block is used again from its beginning, unless others share it.
void ByteBlocks::Rewind() {
  sealed_.clear();
  if (sealed_.capacity() > kBlockBytes / sizeof(Piece)) sealed_.shrink_to_fit();
  consumed_ = sealed_bytes_ = 0;
  if (block_.use_count() > 1) {
    block_.reset();
    limit_ = nullptr;
  }
  open_ = end_ = block_.get();
}

void ByteBlocks::Append(const SharedBytes& bytes) {
  if (bytes.size_ < kSharedFrom) {
    for (const Piece& piece : bytes.pieces_) Append(std::string_view(piece.data, piece.size));
    return;
  }
  if (size() > most_) Overflow();
  if (overflowed_) return;
  Seal();
  sealed_.insert(sealed_.end(), bytes.pieces_.begin(), bytes.pieces_.end());
  sealed_bytes_ += bytes.size_;
}

SharedBytes ByteBlocks::Share() {
  Seal();
  SharedBytes shared;
  sealed_.erase(sealed_.begin(), sealed_.begin() + static_cast<ptrdiff_t>(consumed_));
  shared.pieces_ = std::exchange(sealed_, {});
  shared.size_ = sealed_bytes_;
  Rewind();
  return shared;
}

// Returns the index of the piece with the byte at `position`, and makes `position` the offset
// within that piece. Searches from the end: callers ask for positions near the end, or only once.
size_t ByteBlocks::PieceAt(size_t& position) const {
  size_t begin = sealed_bytes_;
  size_t index = sealed_.size();
  while (begin > position) begin -= sealed_[--index].size;
  position -= begin;
  return index;
}

char ByteBlocks::SealedByte(size_t position) const {
  const size_t index = PieceAt(position);
  return sealed_[index].data[position];
}

// Splits a piece if needed, so that one begins at `position`; returns the index of that one.
size_t ByteBlocks::Divide(size_t position) {
  const size_t index = PieceAt(position);
  if (position == 0) return index;
  const Piece& whole = sealed_[index];
  Piece tail{whole.block, whole.data + position, whole.size - position};
  sealed_[index].size = position;
  sealed_.insert(sealed_.begin() + static_cast<ptrdiff_t>(index) + 1, std::move(tail));
  return index + 1;
}

void ByteBlocks::Insert(size_t position, std::string_view bytes) {
  Check(bytes.size() <= kMostRoom, "what is put in is short");
  if (overflowed_ || bytes.empty()) return;
  Check(position <= size(), "the position is of these bytes");
  if (position >= sealed_bytes_ && bytes.size() <= room()) {
    char* const at = open_ + (position - sealed_bytes_);
    std::memmove(at + bytes.size(), at, static_cast<size_t>(end_ - at));
    std::memcpy(at, bytes.data(), bytes.size());
    end_ += bytes.size();
    return;
  }
  Seal();
  char* const to = Room(bytes.size());
  if (overflowed_) return;
  end_ = std::copy(bytes.begin(), bytes.end(), to);
  Seal();
  const Piece inserted = std::move(sealed_.back());
  sealed_.pop_back();
  sealed_bytes_ -= inserted.size;
  const size_t index = Divide(position);
  sealed_.insert(sealed_.begin() + static_cast<ptrdiff_t>(index), inserted);
  sealed_bytes_ += inserted.size;
}

void ByteBlocks::Truncate(size_t size) {
  if (overflowed_ || size >= this->size()) return;
  if (size == 0) return Rewind();
  if (size >= sealed_bytes_) {
    end_ = open_ + (size - sealed_bytes_);
    return;
  }
  end_ = open_;
  while (sealed_bytes_ - sealed_.back().size >= size) {
    sealed_bytes_ -= sealed_.back().size;
    sealed_.pop_back();
  }
  sealed_.back().size -= sealed_bytes_ - size;
  sealed_bytes_ = size;
}

void ByteBlocks::ConsumeBlocks(size_t bytes) {
  if (bytes >= size()) return Rewind();
  while (bytes > 0 && consumed_ < sealed_.size()) {
    Piece& first = sealed_[consumed_];
    const size_t taken = std::min(bytes, first.size);
    first.data += taken;
    first.size -= taken;
    sealed_bytes_ -= taken;
    bytes -= taken;
    if (first.size > 0) return;
    first.block.reset();
    ++consumed_;
  }
  open_ += bytes;
  // The used-up pieces are erased when they are at least half of all, so that each remaining piece
  // is moved once (amortised).
  if (consumed_ * 2 < sealed_.size()) return;
  sealed_.erase(sealed_.begin(), sealed_.begin() + static_cast<ptrdiff_t>(consumed_));
  consumed_ = 0;
}

void ByteBlocks::Clear() {
  Rewind();
  overflowed_ = false;
}

void ByteBlocks::Overflow() {
  Rewind();
  overflowed_ = true;
}

size_t ByteBlocks::Front(std::span<std::string_view> into, size_t most) const {
  size_t count = 0;
  const auto take = [&](const char* data, size_t size) {
    if (count == into.size() || most == 0 || size == 0) return;
    into[count++] = {data, std::min(size, most)};
    most -= into[count - 1].size();
  };
  for (size_t i = consumed_; i < sealed_.size() && count < into.size() && most > 0; ++i) {
    take(sealed_[i].data, sealed_[i].size);
  }
  take(open_, open_bytes());
  return count;
}

std::string ByteBlocks::Copy(size_t position, size_t most) const {
  std::string copy;
  if (position >= size()) return copy;
  most = std::min(most, size() - position);
  copy.reserve(most);
  if (position < sealed_bytes_) {
    for (size_t i = PieceAt(position); i < sealed_.size() && copy.size() < most; ++i) {
      const std::string_view piece(sealed_[i].data, sealed_[i].size);
      copy.append(piece.substr(position, most - copy.size()));
      position = 0;
    }
  } else {
    position -= sealed_bytes_;
  }
  return copy.append(std::string_view(open_, open_bytes()).substr(position, most - copy.size()));
}

std::string_view ByteBlocks::View(std::string& joined) const {
  std::string_view only;
  if (Front({&only, 1}) == 0 || only.size() == size()) return only;
  joined = Joined();
  return joined;
}

}  // namespace tally
