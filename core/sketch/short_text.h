// A text of which only the beginning is kept, in a fixed number of bytes, and its full size.
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

  // The part that was kept: at most the first kBytes bytes.
  std::string_view view() const { return {chars_, kept()}; }
  // The size of the whole text in bytes; for a text of 4 GiB or more, 4 GiB - 1.
  size_t full_size() const { return size_; }
  bool truncated() const { return size_ > kBytes; }
  // Whether `text` may be the whole text: it has the same size and the same first kBytes bytes.
  bool Matches(std::string_view text) const {
    return text.size() == size_ && text.substr(0, kept()) == view();
  }

 private:
  size_t kept() const { return std::min<size_t>(size_, kBytes); }

  uint32_t size_ = 0;
  char chars_[kBytes] = {};
};

}  // namespace tally
