// A text of which only the beginning is kept, in a fixed number of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tally {

template <size_t kBytes>
class ShortText {
 public:
  ShortText() = default;
  explicit ShortText(std::string_view text) { Set(text); }

  void Set(std::string_view text) {
    size_ = static_cast<uint32_t>(std::min<size_t>(text.size(), UINT32_MAX));
    std::copy_n(text.data(), kept(), chars_);
  }

  // What was kept: the first kBytes bytes at most.
  std::string_view view() const { return {chars_, kept()}; }
  // Of the whole text, in bytes; a text of 4 GiB or more counts as one byte less than that.
  size_t full_size() const { return size_; }
  bool truncated() const { return size_ > kBytes; }
  // Whether `text` may be it: its size, and all that was kept of it, are the same.
  bool Matches(std::string_view text) const {
    return text.size() == size_ && text.substr(0, kept()) == view();
  }

 private:
  size_t kept() const { return std::min<size_t>(size_, kBytes); }

  uint32_t size_ = 0;
  char chars_[kBytes] = {};
};

}  // namespace tally
