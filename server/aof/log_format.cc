#include "server/aof/log_format.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "core/base/check.h"
#include "server/aof/crc32c.h"
#include "server/aof/text_scanner.h"

namespace tally::server {
namespace {

constexpr std::string_view kAnnotationMark = "#TALLY ";
constexpr size_t kLengthDigits = 10;
constexpr size_t kOffsetDigits = 15;
constexpr size_t kCrcAndEnd = 10;  // eight digits, CR, LF

char* PutDecimal(char* out, size_t width, uint64_t value) {
  for (size_t i = width; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
  Check(value == 0, "number fits its field");
  return out + width;
}

char* PutHex32(char* out, uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) *out++ = "0123456789abcdef"[value >> shift & 15];
  return out;
}

ScanResult Incomplete(std::string_view bytes, size_t& position) {
  position = bytes.size() + 1;
  return ScanResult::kIncomplete;
}

// Reads "<marker><number>\r\n".
ScanResult ScanCount(std::string_view bytes, size_t& position, char marker, uint64_t& value) {
  constexpr size_t kMaxDigits = 10;
  if (position == bytes.size()) return Incomplete(bytes, position);
  if (bytes[position] != marker) return ScanResult::kInvalid;
  ++position;
  const size_t start = position;
  value = 0;
  while (position < bytes.size() && bytes[position] >= '0' && bytes[position] <= '9') {
    if (position - start == kMaxDigits || (position > start && bytes[start] == '0')) {
      return ScanResult::kInvalid;
    }
    value = value * 10 + static_cast<uint64_t>(bytes[position] - '0');
    ++position;
  }
  if (position == bytes.size()) return Incomplete(bytes, position);
  if (position == start || bytes[position] != '\r') return ScanResult::kInvalid;
  if (++position == bytes.size()) return Incomplete(bytes, position);
  if (bytes[position] != '\n') return ScanResult::kInvalid;
  ++position;
  return ScanResult::kCommand;
}

ScanResult ScanBulk(std::string_view bytes, size_t& position, std::string_view& value) {
  uint64_t length = 0;
  const ScanResult prefix = ScanCount(bytes, position, '$', length);
  if (prefix != ScanResult::kCommand) return prefix;
  if (length >= bytes.size() - position) {
    position += length + 2;
    return ScanResult::kIncomplete;
  }
  value = bytes.substr(position, length);
  position += length;
  if (bytes[position] != '\r') return ScanResult::kInvalid;
  if (++position == bytes.size()) return Incomplete(bytes, position);
  if (bytes[position] != '\n') return ScanResult::kInvalid;
  ++position;
  return ScanResult::kCommand;
}

}  // namespace

std::string FormatLogHeader(const LogHeader& header) {
  std::string line = absl::StrFormat("#TALLY-LOG 1 %010d %015d %08x ", header.sequence,
                                     header.previous_offset, header.previous_crc);
  const uint32_t crc = ExtendCrc32c(0, line);
  absl::StrAppendFormat(&line, "%08x\r\n", crc);
  Check(line.size() == kLogHeaderBytes, "log header has its length");
  return line;
}

bool ParseLogHeader(std::string_view line, LogHeader& header) {
  if (line.size() != kLogHeaderBytes) return false;
  TextScanner scanner(line);
  return scanner.Literal("#TALLY-LOG 1 ") && scanner.Decimal(kLengthDigits, header.sequence) &&
         scanner.Literal(" ") && scanner.Decimal(kOffsetDigits, header.previous_offset) &&
         scanner.Literal(" ") && scanner.Hex32(header.previous_crc) && scanner.Literal(" ") &&
         scanner.Hex32(header.crc) && scanner.Literal("\r\n") &&
         header.crc == ExtendCrc32c(0, line.substr(0, line.size() - kCrcAndEnd));
}

uint32_t AppendAnnotation(const LogPosition& start, uint64_t synced, std::string_view batch,
                          std::string& out) {
  char line[kAnnotationBytes];
  std::memcpy(line, kAnnotationMark.data(), kAnnotationMark.size());
  char* cursor = PutDecimal(line + kAnnotationMark.size(), kLengthDigits, batch.size());
  *cursor++ = ' ';
  cursor = PutDecimal(cursor, kOffsetDigits, start.offset);
  *cursor++ = ' ';
  cursor = PutDecimal(cursor, kOffsetDigits, synced);
  *cursor++ = ' ';
  cursor = PutHex32(cursor, start.crc);
  *cursor++ = ' ';
  const std::string_view covered(line, static_cast<size_t>(cursor - line));
  const uint32_t crc = ExtendCrc32c(ExtendCrc32c(start.crc, batch), covered);
  cursor = PutHex32(cursor, crc);
  std::memcpy(cursor, "\r\n", 2);
  out.append(line, kAnnotationBytes);
  return crc;
}

bool ParseAnnotation(std::string_view line, Annotation& annotation) {
  if (line.size() != kAnnotationBytes) return false;
  TextScanner scanner(line);
  return scanner.Literal(kAnnotationMark) && scanner.Decimal(kLengthDigits, annotation.length) &&
         scanner.Literal(" ") && scanner.Decimal(kOffsetDigits, annotation.offset) &&
         scanner.Literal(" ") && scanner.Decimal(kOffsetDigits, annotation.synced) &&
         scanner.Literal(" ") && scanner.Hex32(annotation.previous_crc) && scanner.Literal(" ") &&
         scanner.Hex32(annotation.crc) && scanner.Literal("\r\n");
}

bool MayBeginAnnotation(const LogPosition& start, std::string_view batch, std::string_view part) {
  constexpr size_t kSyncedAt = kAnnotationMark.size() + kLengthDigits + 1 + kOffsetDigits + 1;
  // Only the writer knew the `synced` number, so any digits are accepted.
  const std::string_view digits = part.substr(std::min(part.size(), kSyncedAt), kOffsetDigits);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  uint64_t synced = 0;
  TextScanner(digits).Decimal(kOffsetDigits, synced);
  std::string expected;
  AppendAnnotation(start, synced, batch, expected);
  expected.replace(kSyncedAt, digits.size(), digits);
  return expected.starts_with(part);
}

ScanResult ScanCommand(std::string_view bytes, size_t& position,
                       std::vector<std::string_view>& args) {
  args.clear();
  uint64_t count = 0;
  const ScanResult head = ScanCount(bytes, position, '*', count);
  if (head != ScanResult::kCommand) return head;
  if (count == 0) {
    position -= sizeof("0\r\n") - 1;
    return ScanResult::kInvalid;
  }
  for (; count > 0; --count) {
    std::string_view value;
    const ScanResult bulk = ScanBulk(bytes, position, value);
    if (bulk != ScanResult::kCommand) return bulk;
    args.push_back(value);
  }
  return ScanResult::kCommand;
}

std::string_view FirstCommands(std::string_view commands, uint64_t most) {
  if (commands.size() <= most) return commands;
  std::vector<std::string_view> args;
  size_t end = 0;
  for (size_t next = 0; next < commands.size() && (end == 0 || next <= most);) {
    end = next;
    Check(ScanCommand(commands, next, args) == ScanResult::kCommand, "a batch has whole commands");
    if (end == 0) end = next;
  }
  return commands.substr(0, end);
}

}  // namespace tally::server
