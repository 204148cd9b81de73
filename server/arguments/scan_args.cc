#include "server/arguments/scan_args.h"

#include <algorithm>
#include <charconv>

#include "core/bytes/double_format.h"
#include "core/bytes/glob.h"
#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

// The most elements that one call looks at, so that no call stalls the others. A scan that asks for
// more takes several calls.
constexpr int64_t kMaxCount = 1'000'000;

// Reads a cursor as Redis does, with strtoul: the text ends at a NUL, may begin with a sign, and is
// 0 if it is empty.
std::optional<uint64_t> ParseCursor(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  if (text.empty()) return 0;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  uint64_t cursor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cursor);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? 0 - cursor : cursor;
}

}  // namespace

std::optional<uint64_t> CursorArg(CommandContext& context, size_t index) {
  const auto cursor = ParseCursor(context.args[index]);
  if (cursor) return context.host.cursors.Decode(*cursor);
  context.reply.Error("ERR invalid cursor");
  return std::nullopt;
}

bool ScanOptions::Matches(std::string_view name) const {
  return !pattern || *pattern == "*" || GlobMatch(*pattern, name);
}

bool ParseScanOptions(CommandContext& context, size_t first, ScanTarget target,
                      ScanOptions& options) {
  const Args args = context.args;
  for (size_t i = first; i < args.size(); i += 2) {
    const bool has_value = i + 1 < args.size();
    if (has_value && IsWord(args[i], "count")) {
      const auto count = context.Int64Arg(i + 1);
      if (!count) return false;
      if (*count < 1) {
        context.reply.Error(kSyntaxError);
        return false;
      }
      options.count = static_cast<size_t>(std::min(*count, kMaxCount));
    } else if (has_value && IsWord(args[i], "match")) {
      options.pattern = args[i + 1];
    } else if (has_value && IsWord(args[i], "type") && target == ScanTarget::kKeys) {
      options.type = args[i + 1];
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  return true;
}

void ScanReply::AddDouble(double score) {
  std::string text;
  AppendDouble(text, score);
  Add(std::string_view(text));
}

void ScanReply::Finish(uint64_t cursor) {
  reply_.Array(2);
  reply_.Bulk(StrCat(cursors_.Encode(cursor)));
  reply_.Array(count_);
  reply_.output().Append(elements_.Share());
}

}  // namespace tally::server
