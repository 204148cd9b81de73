// Ids of SKUs, actions, users and orders, as callers of a quota book pass and receive them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes/number.h"

namespace tally {

inline constexpr size_t kMaxQuotaIdBytes = 128;

// An int64, or any other text. `7` is an integer; `007`, `+7` and `-0` are texts, each its own id.
// Integers come before texts; texts are in the order of their bytes. A text is not copied, so it is
// valid only as long as the memory that it was made from.
class QuotaId {
 public:
  constexpr QuotaId(int64_t number = 0) : number_(number) {}

  // `text` must not be the canonical text of an integer.
  static constexpr QuotaId Text(std::string_view text) {
    QuotaId id;
    id.text_ = text.empty() ? "" : text.data();
    id.text_size_ = text.size();
    return id;
  }
  constexpr bool is_text() const { return text_ != nullptr; }
  constexpr int64_t number() const { return number_; }  // 0 for a text
  constexpr std::string_view text() const { return {text_, text_size_}; }

  friend constexpr std::strong_ordering operator<=>(const QuotaId& a, const QuotaId& b) {
    if (a.is_text() != b.is_text()) return a.is_text() <=> b.is_text();
    return a.is_text() ? a.text() <=> b.text() : a.number_ <=> b.number_;
  }
  friend constexpr bool operator==(const QuotaId& a, const QuotaId& b) {
    return a.number_ == b.number_ && a.is_text() == b.is_text() && a.text() == b.text();
  }
  template <typename H>
  friend H AbslHashValue(H hash, const QuotaId& id) {
    return H::combine(std::move(hash), id.number_, id.is_text(), id.text());
  }

 private:
  int64_t number_;
  const char* text_ = nullptr;  // null for an integer
  size_t text_size_ = 0;
};

// The id as it is written.
inline std::string TextOf(const QuotaId& id) {
  return id.is_text() ? std::string(id.text()) : std::string(Int64Text(id.number()).view());
}

// Reads an id that a caller wrote; returns false if it is longer than kMaxQuotaIdBytes. A text is
// not copied.
[[nodiscard]] inline bool ReadQuotaId(std::string_view written, QuotaId& id) {
  if (const auto number = ParseInt64(written)) {
    id = QuotaId(*number);
    return true;
  }
  id = QuotaId::Text(written);
  return written.size() <= kMaxQuotaIdBytes;
}

// A SKU or an action in the form in which a book's records hold it: an integer, or the number of a
// text in the book's dictionary.
struct BookId {
  constexpr BookId(int64_t value_in = 0, bool is_text_in = false)
      : is_text(is_text_in), value(value_in) {}

  bool is_text;
  int64_t value;

  // Integers come first. Texts are in the order of their numbers, which is the order in which the
  // dictionary got them.
  friend constexpr auto operator<=>(const BookId&, const BookId&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const BookId& id) {
    return H::combine(std::move(hash), id.is_text, id.value);
  }
};

}  // namespace tally
