// The table key of a user or a SKU. The key of an integer is its zigzag in as few bytes as hold it,
// so the last byte of a key of several bytes is not zero. The key of a text is its bytes and a zero
// byte; the key of the empty text has no bytes. So the two kinds can be told apart.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/check.h"
#include "core/quota/packed_integer.h"
#include "core/quota/quota_id.h"

namespace tally {

class EntityKey {
 public:
  explicit EntityKey(int64_t id) {
    const uint64_t zigzag = ZigZagEncode(id);
    size_ = PackedBytes(zigzag);
    std::memcpy(bytes_, &zigzag, sizeof zigzag);
  }
  explicit EntityKey(const QuotaId& user) : EntityKey(user.number()) {
    if (user.is_text()) [[unlikely]]
      SetText(user.text());
  }
  // The key of a text SKU is made from the bytes of its number in the book's dictionary.
  explicit EntityKey(BookId sku) : EntityKey(sku.value) {
    if (sku.is_text) [[unlikely]]
      SetText(std::string_view(bytes_, size_));
  }

  EntityKey(const EntityKey& other) : size_(other.size_) {
    std::memcpy(bytes_, other.bytes_, size_);
  }
  EntityKey& operator=(const EntityKey&) = delete;

  std::string_view view() const { return {bytes_, size_}; }

  static bool IsText(std::string_view key) {
    return key.empty() || (key.size() > 1 && key.back() == '\0');
  }
  // Returns the integer of a key; IsText(key) must be false.
  static int64_t NumberOf(std::string_view key) {
    uint64_t zigzag = 0;
    std::memcpy(&zigzag, key.data(), key.size());
    return ZigZagDecode(zigzag);
  }
  // Returns the text of a key, a view into it; IsText(key) must be true.
  static std::string_view TextOf(std::string_view key) {
    return key.substr(0, key.empty() ? 0 : key.size() - 1);
  }
  // Returns the user that the key was made from; a text is a view into the key.
  static QuotaId UserOf(std::string_view key) {
    return IsText(key) ? QuotaId::Text(TextOf(key)) : QuotaId(NumberOf(key));
  }
  // Whether the key can be that of a SKU: an integer, or a text that is the bytes of a number.
  static bool IsSku(std::string_view key) {
    if (!IsText(key)) return true;
    const std::string_view number = TextOf(key);
    return !number.empty() && number.size() <= sizeof(int64_t) && !IsText(number);
  }
  // Returns the SKU that the key was made from.
  static BookId SkuOf(std::string_view key) {
    if (!IsText(key)) return NumberOf(key);
    return {NumberOf(TextOf(key)), true};
  }

 private:
  void SetText(std::string_view text) {
    Check(text.size() <= kMaxQuotaIdBytes, "ids are limited where they are read");
    std::memmove(bytes_, text.data(), text.size());
    bytes_[text.size()] = '\0';
    size_ = text.empty() ? 0 : static_cast<uint32_t>(text.size()) + 1;
  }

  uint32_t size_;
  char bytes_[kMaxQuotaIdBytes + 1];
};

}  // namespace tally
