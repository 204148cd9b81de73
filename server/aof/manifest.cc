#include "server/aof/manifest.h"

#include <algorithm>

#include "absl/strings/escaping.h"
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

// Writes a name like Redis: quoted, with escapes, if it has a space, a quote, a backslash or an
// unprintable byte.
std::string Quoted(const std::string& name) {
  const std::string escaped = absl::CHexEscape(name);
  if (escaped == name && name.find(' ') == std::string::npos) return name;
  return absl::StrCat("\"", escaped, "\"");
}

// Removes a name, in the form of Quoted(), and the space after it from the front of `line`. Returns
// false if there is none or the name has a slash.
bool TakeName(std::string_view& line, std::string& name) {
  const bool is_quoted = line.starts_with('"');
  size_t end = is_quoted ? 1 : 0;
  while (end < line.size() && line[end] != (is_quoted ? '"' : ' ')) {
    end += is_quoted && line[end] == '\\' ? 2 : 1;
  }
  if (end >= line.size()) return false;
  const std::string text(line.substr(is_quoted ? 1 : 0, is_quoted ? end - 1 : end));
  line.remove_prefix(is_quoted ? end + 1 : end);
  if (!line.starts_with(' ')) return false;
  line.remove_prefix(1);
  if (!is_quoted) name = text;
  if (is_quoted && !absl::CUnescape(text, &name)) return false;
  return !name.empty() && name.find('/') == std::string::npos;
}

void AppendEntry(const ManifestEntry& entry, char type, std::string& text) {
  absl::StrAppendFormat(&text, "file %s seq %d type %c\n", Quoted(entry.name), entry.sequence,
                        type);
}

bool ParseSequence(const std::string& text, uint64_t& sequence) {
  return absl::SimpleAtoi(text, &sequence) && sequence > 0 && text == absl::StrCat(sequence);
}

// Parses one line without its newline. Returns false if it does not have AppendEntry's form. Redis
// 8 may write more pairs of words after it.
bool ParseEntry(std::string_view line, ManifestEntry& entry, char& type, size_t most_words = 4) {
  constexpr std::string_view kFile = "file ";
  if (!line.starts_with(kFile)) return false;
  line.remove_prefix(kFile.size());
  if (!TakeName(line, entry.name)) return false;
  const std::vector<std::string> words = absl::StrSplit(std::string(line), ' ');
  if (words.size() < 4 || words.size() > most_words || words[0] != "seq" || words[2] != "type") {
    return false;
  }
  if (!ParseSequence(words[1], entry.sequence) || words[3].size() != 1) return false;
  type = words[3][0];
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
      if (newline + 1 != text.size()) return BadLine(file, number, "text after the checksum");
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
  if (IsOfRedis(text)) {
    return absl::FailedPreconditionError(absl::StrCat(
        std::string(file), " was written by Redis: start tallyd on it, which takes the data over"));
  }
  return absl::DataLossError(absl::StrCat(std::string(file), ": no checksum line at the end"));
}

bool Manifest::IsOfRedis(std::string_view text) {
  const auto manifest = ParseOfRedis(text, "");
  if (!manifest.ok() || !manifest->base.has_value()) return false;
  const std::string_view name = manifest->base->name;
  return name.ends_with(".base.rdb") || name.ends_with(".base.aof");
}

absl::StatusOr<Manifest> Manifest::ParseOfRedis(std::string_view text, std::string_view file) {
  constexpr size_t kMostWords = 20;
  Manifest manifest;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kChecksumLine)) return BadLine(file, number, "not written by Redis");
    if (line.empty() || line.starts_with('#')) continue;
    ManifestEntry entry;
    char type = 0;
    if (!ParseEntry(line, entry, type, kMostWords)) {
      return BadLine(file, number, "expected: file <name> seq <number> type b|i|h");
    }
    absl::Status added = AddEntry(file, number, std::move(entry), type, manifest);
    if (!added.ok()) return added;
  }
  if (manifest.base.has_value() || !manifest.logs.empty()) return manifest;
  return BadLine(file, 1, "it names no files");
}

}  // namespace tally::server
