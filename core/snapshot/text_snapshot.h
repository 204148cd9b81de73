// What is still to be saved of a large string, while the string goes on changing. Bytes that are
// about to change are kept first, in pages, so that a change of one byte copies one page. What is
// appended needs no copy, because a snapshot ends where the string ended when it began.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/bytes/byte_range.h"
#include "core/bytes/text.h"

namespace tally {

class TextSnapshot {
 public:
  // A snapshot of the text as it is now. The text must stay at its place.
  explicit TextSnapshot(const Text& text) : text_(text), size_(text.size()) {}

  // To be called before these bytes of the text change or are removed.
  void BeforeChange(ByteRange bytes);
  // Appends the next bytes, about `max_bytes`; returns false if they are the last.
  bool SaveSome(size_t max_bytes, std::string& out);

 private:
  static constexpr size_t kPageBytes = size_t{16} << 10;

  std::string_view PageInText(size_t page) const;

  const Text& text_;
  const size_t size_;
  size_t next_page_ = 0;
  absl::flat_hash_map<size_t, std::string> kept_;  // pages that have changed, by their number
};

}  // namespace tally
