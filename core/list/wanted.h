// The element that a list is searched for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/bytes/number.h"

namespace tally {

// Elements may be held as texts or as integers; integers are compared as numbers. The text must
// outlive this object.
class Wanted {
 public:
  explicit Wanted(std::string_view text) : text_(text), number_(ParseInt64(text)) {}

  // nullopt if the text is not the canonical text of an integer; then no integer equals it.
  const std::optional<int64_t>& number() const { return number_; }

  bool operator()(std::string_view element) const { return element == text_; }
  bool operator()(int64_t element) const { return number_ == element; }

 private:
  std::string_view text_;
  std::optional<int64_t> number_;
};

}  // namespace tally
