#include "core/snapshot/text_snapshot.h"

#include <algorithm>

namespace tally {

std::string_view TextSnapshot::PageInText(size_t page) const {
  const size_t begin = page * kPageBytes;
  return text_.view().substr(begin, std::min(kPageBytes, size_ - begin));
}

void TextSnapshot::BeforeChange(ByteRange bytes) {
  const size_t end = std::min(bytes.end, size_);
  for (size_t page = std::max(bytes.begin / kPageBytes, next_page_); page * kPageBytes < end;
       ++page) {
    if (!kept_.contains(page)) kept_.emplace(page, PageInText(page));
  }
}

bool TextSnapshot::SaveSome(size_t max_bytes, std::string& out) {
  const size_t begin = out.size();
  while (next_page_ * kPageBytes < size_ && out.size() - begin < max_bytes) {
    const auto kept = kept_.extract(next_page_);
    out.append(kept.empty() ? PageInText(next_page_) : std::string_view(kept.mapped()));
    ++next_page_;
  }
  return next_page_ * kPageBytes < size_;
}

}  // namespace tally
