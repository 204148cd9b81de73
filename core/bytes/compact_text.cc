#include "core/bytes/compact_text.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tally {
namespace {

static_assert(std::endian::native == std::endian::little);
static_assert(kMaxInt64Chars <= CompactText::kMaxSparseText);
static_assert(CompactText::kMaxHexDigits <= CompactText::kMaxSparseText);

constexpr size_t kMaxZeroRun = 255;
constexpr char kDigits[] = "0123456789abcdef";
constexpr uint8_t kNoDigit = 0xFF;

// The value of each byte as a lower-case hexadecimal digit; kNoDigit if it is none.
constexpr auto kNibbles = [] {
  std::array<uint8_t, 256> nibbles{};
  nibbles.fill(kNoDigit);
  for (uint8_t i = 0; i < 16; ++i) nibbles[static_cast<uint8_t>(kDigits[i])] = i;
  return nibbles;
}();

uint8_t NibbleOf(char digit) { return kNibbles[static_cast<uint8_t>(digit)]; }

// The smallest number of bytes, 1 to 8, from which sign extension restores the number.
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
  if (EncodeHex(text) || EncodeSparse(text)) return;
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

bool CompactText::EncodeSparse(std::string_view text) {
  if (text.size() > kMaxSparseText || text.find('\0') == std::string_view::npos) return false;
  size_t size = 0;
  buffer_[size++] = static_cast<char>(kSparseMarker);
  for (size_t i = 0; i < text.size();) {
    const size_t needed = text[i] == '\0' ? 2 : 1;
    if (size + needed >= text.size()) return false;
    buffer_[size++] = text[i];
    if (needed == 1) {
      ++i;
      continue;
    }
    const size_t end = std::min(text.find_first_not_of('\0', i), text.size());
    const size_t zeros = std::min(end - i, kMaxZeroRun);
    buffer_[size++] = static_cast<char>(zeros);
    i += zeros;
  }
  code_ = {buffer_, size};
  return true;
}

bool IsCode(std::string_view bytes) {
  if (bytes.empty() || static_cast<uint8_t>(bytes[0]) < CompactText::kFirstMarker) {
    return CompactText(bytes).code() == bytes;
  }
  const auto marker = static_cast<uint8_t>(bytes[0]);
  const bool known = marker == CompactText::kEscapeMarker || marker == CompactText::kHexMarker ||
                     marker == CompactText::kSparseMarker || IntegerOfCode(bytes).has_value();
  if (!known) return false;
  if (marker == CompactText::kHexMarker && bytes.size() > 1 + CompactText::kMaxHexDigits / 2) {
    return false;
  }
  return CompactText(PlainText(bytes).view()).code() == bytes;
}

void PlainText::Decode(std::string_view code) {
  if (const std::optional<int64_t> number = IntegerOfCode(code)) {
    view_ = std::string_view(buffer_, static_cast<size_t>(WriteInt64(buffer_, *number) - buffer_));
    return;
  }
  if (static_cast<uint8_t>(code[0]) == CompactText::kEscapeMarker) {
    view_ = ElementView(code.substr(1), view_.block);
    return;
  }
  if (static_cast<uint8_t>(code[0]) == CompactText::kSparseMarker) {
    return DecodeSparse(code.substr(1));
  }
  DecodeHex(code.substr(1));
}

void PlainText::DecodeHex(std::string_view digits) {
  char* out = buffer_;
  for (const char byte : digits) {
    *out++ = kDigits[static_cast<uint8_t>(byte) >> 4];
    *out++ = kDigits[static_cast<uint8_t>(byte) & 15];
  }
  view_ = std::string_view(buffer_, static_cast<size_t>(out - buffer_));
}

void PlainText::DecodeSparse(std::string_view runs) {
  size_t size = 0;
  for (size_t i = 0; i < runs.size() && size < sizeof buffer_; ++i) {
    if (runs[i] != '\0' || i + 1 == runs.size()) {
      buffer_[size++] = runs[i];
      continue;
    }
    const size_t zeros = std::min<size_t>(static_cast<uint8_t>(runs[++i]), sizeof buffer_ - size);
    std::memset(buffer_ + size, 0, zeros);
    size += zeros;
  }
  view_ = std::string_view(buffer_, size);
}

}  // namespace tally
