// A text as an RDB holds it: its bytes, or the integer whose decimal text it is. Most of these are
// integers here too, so that nobody needs their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/bytes/number.h"

namespace tally::rdb {

class StoredText {
 public:
  void Set(std::string_view text) {
    text_ = text;
    is_number_ = false;
  }
  void Set(int64_t number) {
    number_ = number;
    is_number_ = true;
  }

  bool is_number() const { return is_number_; }
  int64_t number() const { return number_; }
  // Of an integer it is written now. Valid as long as the bytes that were set, and until it is set
  // again.
  std::string_view text() {
    if (!is_number_) return text_;
    return {digits_, static_cast<size_t>(WriteInt64(digits_, number_) - digits_)};
  }

 private:
  bool is_number_ = false;
  int64_t number_ = 0;
  std::string_view text_;
  char digits_[kMaxInt64Chars];
};

}  // namespace tally::rdb
