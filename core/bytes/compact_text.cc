#include "core/bytes/compact_text.h"

#include <array>
#include <bit>

namespace tally {
namespace {

static_assert(std::endian::native == std::endian::little);
static_assert(kMaxInt64Chars <= CompactText::kMaxHexDigits);

constexpr char kDigits[] = "0123456789abcdef";
constexpr uint8_t kNoDigit = 0xFF;

// What each byte is worth as a lower-case hexadecimal digit.
constexpr auto kNibbles = [] {
  std::array<uint8_t, 256> nibbles{};
  nibbles.fill(kNoDigit);
  for (uint8_t i = 0; i < 16; ++i) nibbles[static_cast<uint8_t>(kDigits[i])] = i;
  return nibbles;
}();

uint8_t NibbleOf(char digit) { return kNibbles[static_cast<uint8_t>(digit)]; }

// The fewest bytes that sign extension restores the number from: 1 to 8.
size_t BytesOf(int64_t number) {
  const auto magnitude = static_cast<uint64_t>(number < 0 ? ~number : number);
  return static_cast<size_t>(std::bit_width(magnitude)) / 8 + 1;
}

bool MayBeInteger(std::string_view text) {
  if (text.empty() || text.size() > kMaxInt64Chars) return false;
  return text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
}

}  // namespace

CompactText::CompactText(std::string_view text) : code_(text) {
  if (MayBeInteger(text)) {
    if (const std::optional<int64_t> number = ParseInt64(text)) {
      EncodeInteger(*number);
      return;
    }
  }
  if (EncodeHex(text)) return;
  if (!text.empty() && static_cast<uint8_t>(text[0]) >= kFirstMarker) {
    escaped_.reserve(text.size() + 1);
    escaped_.push_back(static_cast<char>(kEscapeMarker));
    escaped_.append(text);
    code_ = escaped_;
  }
}

void CompactText::EncodeInteger(int64_t number) {
  const size_t bytes = BytesOf(number);
  buffer_[0] = static_cast<char>(kIntegerMarker + bytes);
  std::memcpy(buffer_ + 1, &number, sizeof(number));
  code_ = {buffer_, 1 + bytes};
}

bool CompactText::EncodeHex(std::string_view text) {
  if (text.size() < kMinHexDigits || text.size() > kMaxHexDigits || text.size() % 2 != 0) {
    return false;
  }
  char* out = buffer_;
  *out++ = static_cast<char>(kHexMarker);
  for (size_t i = 0; i < text.size(); i += 2) {
    const uint8_t high = NibbleOf(text[i]);
    const uint8_t low = NibbleOf(text[i + 1]);
    if ((high | low) == kNoDigit) return false;
    *out++ = static_cast<char>(high << 4 | low);
  }
  code_ = {buffer_, static_cast<size_t>(out - buffer_)};
  return true;
}

void PlainText::Decode(std::string_view code) {
  if (const std::optional<int64_t> number = IntegerOfCode(code)) {
    view_ = {buffer_, static_cast<size_t>(WriteInt64(buffer_, *number) - buffer_)};
    return;
  }
  if (static_cast<uint8_t>(code[0]) == CompactText::kEscapeMarker) {
    view_ = code.substr(1);
    return;
  }
  char* out = buffer_;
  for (const char byte : code.substr(1)) {
    *out++ = kDigits[static_cast<uint8_t>(byte) >> 4];
    *out++ = kDigits[static_cast<uint8_t>(byte) & 15];
  }
  view_ = {buffer_, static_cast<size_t>(out - buffer_)};
}

}  // namespace tally
