// The bytes of an incremental log: a header line, then batches of RESP commands, each followed by
// an annotation line with its checksum. The grammar is in aof_format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// A place in a log: after the header or after a batch. `crc` is the checksum of the header or batch
// that ends there; the next batch is chained to it.
struct LogPosition {
  uint64_t sequence = 0;  // of the log; 0: there is no log yet
  uint64_t offset = 0;    // bytes from the start of the file
  uint32_t crc = 0;

  friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

// "#TALLY-LOG 1 <sequence> <previous end> <previous crc> <crc>\r\n"
inline constexpr size_t kLogHeaderBytes = 59;
// "#TALLY <length> <offset> <synced> <previous crc> <crc>\r\n"
inline constexpr size_t kAnnotationBytes = 69;
// The length field of an annotation has ten digits. LogWriter splits what is longer.
inline constexpr uint64_t kMaxBatchBytes = 9'999'999'999;

struct LogHeader {
  uint64_t sequence = 0;
  // The offset where the previous log ends, and its checksum there. What that file holds after this
  // offset is void: it was written again into this log after a failed fsync.
  uint64_t previous_offset = 0;
  uint32_t previous_crc = 0;
  uint32_t crc = 0;  // of the line before this field; computed by FormatLogHeader
};

struct Annotation {
  uint64_t length = 0;  // bytes of the batch before this line
  uint64_t offset = 0;  // of the batch's first byte in the file
  // At least this many bytes of the file were on disk when the batch was written.
  uint64_t synced = 0;
  uint32_t previous_crc = 0;
  uint32_t crc = 0;
};

std::string FormatLogHeader(const LogHeader& header);
// Returns false unless `line` is exactly a header line with the right checksum.
bool ParseLogHeader(std::string_view line, LogHeader& header);

// Appends to `out` the annotation of a batch that begins at `start`, and returns its checksum.
// `synced` bytes of the file are known to be on disk.
uint32_t AppendAnnotation(const LogPosition& start, uint64_t synced, std::string_view batch,
                          std::string& out);
// Returns false unless `line` has exactly the form of an annotation. Does not check the checksum.
bool ParseAnnotation(std::string_view line, Annotation& annotation);
// Returns true if the annotation of this batch may begin with `part`.
bool MayBeginAnnotation(const LogPosition& start, std::string_view batch, std::string_view part);

// A strict scanner of multi-bulk commands: only "*<n>\r\n($<length>\r\n<bytes>\r\n){n}", n >= 1,
// numbers without sign or leading zeros.
enum class ScanResult : uint8_t { kCommand, kIncomplete, kInvalid };
// Reads one command at `position`. kCommand: `args` are views into `bytes`, and `position` is after
// the command. kIncomplete: `bytes` ends within a command; at least `position` bytes are needed to
// continue. kInvalid: the bytes cannot begin a command; `position` is the first bad byte.
ScanResult ScanCommand(std::string_view bytes, size_t& position,
                       std::vector<std::string_view>& args);

// Returns the first commands of `commands`, which are whole: as many as have at most `most` bytes
// together, but at least one.
std::string_view FirstCommands(std::string_view commands, uint64_t most);

}  // namespace tally::server
