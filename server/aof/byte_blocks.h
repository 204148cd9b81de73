// Bytes in blocks, for what is only appended to, read once and dropped: a string of megabytes that
// grows has to copy them all at once, which takes a turn of the loop ten milliseconds and more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

class ByteBlocks {
 public:
  static constexpr size_t kBlockBytes = 128 * 1024;

  // O(bytes).
  void Append(std::string_view bytes) {
    size_ += bytes.size();
    while (!bytes.empty()) {
      if (blocks_.empty() || blocks_.back().size() == kBlockBytes) {
        blocks_.emplace_back().reserve(kBlockBytes);
      }
      const size_t taken = std::min(bytes.size(), kBlockBytes - blocks_.back().size());
      blocks_.back().append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
    }
  }

  // All of them in one piece.
  std::string Joined() const {
    std::string joined;
    joined.reserve(size_);
    for (const std::string& block : blocks_) joined.append(block);
    return joined;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Keeps one block for what comes next; all are of one size, so that is all it keeps.
  void Clear() {
    if (blocks_.size() > 1) blocks_.resize(1);
    if (!blocks_.empty()) blocks_.front().clear();
    size_ = 0;
  }

 private:
  std::vector<std::string> blocks_;
  size_t size_ = 0;
};

}  // namespace tally::server
