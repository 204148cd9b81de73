// The layout of the base file, which holds a snapshot: a header, CRC-chained blocks of records, and
// a footer with their counts. The content of a record means nothing here. A record that is longer
// than a block is split into pieces, each in a block of its own. See aof_format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally::server {

inline constexpr size_t kBaseHeaderBytes = 52;
inline constexpr std::string_view kBaseMagic = "TALLYBAS";
inline constexpr uint32_t kBaseVersion = 1;
inline constexpr size_t kBaseVersionAt = 8;
inline constexpr char kRecordBlock = 'R';
inline constexpr char kPieceBlock = 'P';
inline constexpr char kLastPieceBlock = 'E';
inline constexpr char kFooterBlock = 'F';
inline constexpr size_t kBlockHeadBytes = 5;  // type, length
inline constexpr size_t kCrcBytes = 4;
inline constexpr size_t kFooterBytes = 16;  // records, blocks

struct BaseHeader {
  int64_t created_unix_ms = 0;
  uint64_t sequence = 0;   // the manifest's
  uint64_t first_log = 0;  // the oldest log that may continue this snapshot
  // The offset in `first_log` at which it continues the snapshot, and the log's checksum there; the
  // bytes of the log before it are void. Offset 0: the snapshot is continued at the header of that
  // log, or of the first one listed.
  uint64_t first_offset = 0;
  uint32_t first_crc = 0;
};

// Appends an unsigned or signed integer of 4 or 8 bytes.
template <typename T>
void PutLittleEndian(T value, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
  }
}

// Reads one from sizeof(T) bytes.
template <typename T>
T GetLittleEndian(const char* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return static_cast<T>(value);
}

}  // namespace tally::server
