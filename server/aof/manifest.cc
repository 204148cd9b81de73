#include "server/aof/manifest.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "server/aof/crc32c.h"
#include "server/aof/text_scanner.h"

namespace tally::server {
namespace {

constexpr std::string_view kChecksumLine = "#TALLY-MANIFEST 1 ";

absl::Status BadLine(std::string_view file, size_t line, std::string_view why) {
  return absl::DataLossError(
      absl::StrCat(std::string(file), " line ", line, ": ", std::string(why)));
}

void AppendEntry(const ManifestEntry& entry, char type, std::string& text) {
  absl::StrAppendFormat(&text, "file %s seq %d type %c\n", entry.name, entry.sequence, type);
}

bool ParseSequence(const std::string& text, uint64_t& sequence) {
  return absl::SimpleAtoi(text, &sequence) && sequence > 0 && text == absl::StrCat(sequence);
}

// One line without its newline; false if it has another form than AppendEntry's.
bool ParseEntry(const std::string& line, ManifestEntry& entry, char& type) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  if (words.size() != 6 || words[0] != "file" || words[2] != "seq" || words[4] != "type") {
    return false;
  }
  if (words[1].empty() || words[1].find('/') != std::string::npos) return false;
  if (!ParseSequence(words[3], entry.sequence) || words[5].size() != 1) return false;
  entry.name = words[1];
  type = words[5][0];
  return type == 'b' || type == 'i' || type == 'h';
}

absl::Status AddEntry(std::string_view file, size_t number, ManifestEntry entry, char type,
                      Manifest& manifest) {
  if (type == 'b') {
    if (manifest.base.has_value()) return BadLine(file, number, "a second base");
    manifest.base = std::move(entry);
  } else if (type == 'i') {
    if (!manifest.logs.empty() && manifest.logs.back().sequence >= entry.sequence) {
      return BadLine(file, number, "log sequences do not rise");
    }
    manifest.logs.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

}  // namespace

bool Manifest::Lists(std::string_view name) const {
  return (base.has_value() && base->name == name) ||
         std::any_of(logs.begin(), logs.end(),
                     [&](const ManifestEntry& log) { return log.name == name; });
}

std::string Manifest::Format() const {
  std::string text;
  if (base.has_value()) AppendEntry(*base, 'b', text);
  for (const ManifestEntry& log : logs) AppendEntry(log, 'i', text);
  absl::StrAppendFormat(&text, "%s%08x\n", std::string(kChecksumLine), ExtendCrc32c(0, text));
  return text;
}

absl::StatusOr<Manifest> Manifest::Parse(std::string_view text, std::string_view file) {
  Manifest manifest;
  size_t start = 0;
  for (size_t number = 1; start < text.size(); ++number) {
    const size_t newline = text.find('\n', start);
    if (newline == std::string_view::npos) return BadLine(file, number, "no end of line");
    const std::string line(text.substr(start, newline - start));
    if (line.starts_with('#')) {
      TextScanner scanner(line);
      uint32_t crc = 0;
      if (!scanner.Literal(kChecksumLine) || !scanner.Hex32(crc) || !scanner.AtEnd()) {
        return BadLine(file, number, "not a checksum line of this version");
      }
      if (crc != ExtendCrc32c(0, text.substr(0, start))) {
        return BadLine(file, number, "the checksum does not match");
      }
      if (newline + 1 != text.size()) return BadLine(file, number, "text behind the checksum");
      return manifest;
    }
    ManifestEntry entry;
    char type = 0;
    if (!ParseEntry(line, entry, type)) {
      return BadLine(file, number, "expected: file <name> seq <number> type b|i|h");
    }
    absl::Status added = AddEntry(file, number, std::move(entry), type, manifest);
    if (!added.ok()) return added;
    start = newline + 1;
  }
  return absl::DataLossError(absl::StrCat(std::string(file), ": no checksum line at the end"));
}

}  // namespace tally::server
