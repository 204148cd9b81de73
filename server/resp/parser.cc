#include "server/resp/parser.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "server/resp/split_args.h"

namespace tally::server {
namespace {

constexpr size_t kUnauthenticatedMaxArgs = 10;
constexpr size_t kUnauthenticatedMaxBulk = 16384;
constexpr size_t kMinBulkBytes = 6;  // "$0\r\n\r\n"
constexpr size_t kLineEndBytes = 2;
// The least value of max_inline. ParseWhole does not check max_inline, so this must not be shorter
// than a length line that it reads.
constexpr size_t kMinInline = 64;
// A connection keeps room for this many arguments between requests; more room is freed.
constexpr size_t kIdleArgs = 1024;
// A batch that has this many arguments takes no further request.
constexpr size_t kMaxBatchArgs = 128;
// If the first request is longer than this many bytes, it is a batch of its own: a larger batch
// would gain little, and its command may take over the memory in which its arguments lie.
constexpr size_t kMaxBatched = 16 * 1024;

// Reads "<digits>\r\n" with at most nine digits. Returns the position after it. Returns null if the
// line is incomplete or is anything else; the resumable path then decides what it is.
inline const char* ReadShortLength(const char* p, const char* end, size_t* value) {
  if (end - p < 3) return nullptr;
  size_t length = static_cast<unsigned char>(*p) - size_t{'0'};
  if (length > 9) return nullptr;
  if (p[1] == '\r') [[likely]] {
    *value = length;
    return p + 3;
  }
  if (length == 0) return nullptr;
  const char* last = p + std::min<ptrdiff_t>(end - p - 1, 10);
  for (++p; p < last; ++p) {
    const size_t digit = static_cast<unsigned char>(*p) - size_t{'0'};
    if (digit > 9) {
      if (*p != '\r') return nullptr;
      *value = length;
      return p + kLineEndBytes;
    }
    length = length * 10 + digit;
  }
  return nullptr;
}

// Vertical tab and form feed are skipped between words, but do not end one.
bool EndsWord(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

void RequestParser::set_limits(const ParserLimits& limits) {
  limits_ = limits;
  limits_.max_inline = std::max(limits.max_inline, kMinInline);
  max_args_ = limits.max_args;
  max_bulk_ = limits.max_bulk;
  if (!limits.authenticated) {
    max_args_ = std::min(max_args_, kUnauthenticatedMaxArgs);
    max_bulk_ = std::min(max_bulk_, kUnauthenticatedMaxBulk);
  }
}

ParseStatus RequestParser::Next(std::string_view buffer) {
  if (stage_ == Stage::kStart) [[likely]] {
    if (oversized_) [[unlikely]]
      ReleaseSpareMemory();
    argc_ = 0;
    if (buffer.empty()) return NeedMore(1);
    if (buffer.front() == '*') {
      if (ParseWhole(buffer, 0)) [[likely]]
        return ParseStatus::kCommand;
      stage_ = Stage::kCount;
    } else {
      stage_ = Stage::kInline;
    }
    position_ = 0;
    scanned_ = 0;
  }
  if (stage_ == Stage::kFailed) return ParseStatus::kError;
  Check(buffer.size() >= position_, "the buffer holds what was parsed of the request");
  return stage_ == Stage::kInline ? ParseInline(buffer) : ParseMultibulk(buffer);
}

ParseStatus RequestParser::NextBatch(std::string_view buffer) {
  requests_.clear();
  const ParseStatus status = Next(buffer);
  if (status != ParseStatus::kCommand) return status;
  size_t first_arg = 0;
  requests_.push_back({first_arg, argc_, consumed_});
  if (consumed_ > kMaxBatched) return status;
  while (requests_.size() < kMaxBatch) {
    buffer.remove_prefix(consumed_);
    first_arg += argc_;
    if (buffer.empty() || buffer.front() != '*' || first_arg >= kMaxBatchArgs) break;
    if (!ParseWhole(buffer, first_arg)) break;
    requests_.push_back({first_arg, argc_, consumed_});
  }
  return status;
}

// The common case: the buffer begins with a whole, well-formed multibulk request. For anything else
// it returns false, and the resumable path parses the request from its begin.
bool RequestParser::ParseWhole(std::string_view buffer, size_t first_arg) {
  const char* const end = buffer.data() + buffer.size();
  size_t count = 0;
  const char* p = ReadShortLength(buffer.data() + 1, end, &count);
  if (p == nullptr || count > max_args_) return false;
  if (count > static_cast<size_t>(end - p) / kMinBulkBytes) return false;
  if (first_arg + count > args_.size()) GrowArgs(first_arg + count);
  std::string_view* arg = args_.data() + first_arg;
  for (std::string_view* const last = arg + count; arg != last; ++arg) {
    size_t length = 0;
    if (p == end || *p != '$') return false;
    p = ReadShortLength(p + 1, end, &length);
    if (p == nullptr || length > max_bulk_) return false;
    if (static_cast<size_t>(end - p) < length + kLineEndBytes) return false;
    *arg = {p, length};
    p += length + kLineEndBytes;
  }
  argc_ = count;
  consumed_ = static_cast<size_t>(p - buffer.data());
  return true;
}

ParseStatus RequestParser::ParseMultibulk(std::string_view buffer) {
  if (stage_ == Stage::kCount) {
    const ParseStatus status = ReadCount(buffer);
    if (status != ParseStatus::kCommand) return status;
  }
  while (bulks_left_ > 0) {
    if (stage_ == Stage::kBulkLength) {
      const ParseStatus status = ReadBulkLength(buffer);
      if (status != ParseStatus::kCommand) return status;
    }
    const size_t available = buffer.size() - position_;
    const size_t needed = bulk_length_ + kLineEndBytes;
    if (available < needed) return NeedMore(needed - available);
    extents_.push_back({position_, bulk_length_});
    position_ += needed;
    --bulks_left_;
    stage_ = Stage::kBulkLength;
  }
  const size_t argc = extents_.size();
  if (argc > args_.size()) GrowArgs(argc);
  std::transform(extents_.begin(), extents_.end(), args_.begin(), [buffer](const Extent& extent) {
    return std::string_view(buffer.data() + extent.offset, extent.length);
  });
  extents_.clear();
  return Complete(argc, position_);
}

// Reads "*<count>\r\n". Returns kCommand when it has read all of it.
ParseStatus RequestParser::ReadCount(std::string_view buffer) {
  size_t end = 0;
  const ParseStatus status =
      FindLineEnd(buffer, '\r', "Protocol error: too big mbulk count string", &end);
  if (status != ParseStatus::kCommand) return status;
  const std::optional<int64_t> count = ParseInt64(buffer.substr(1, end - 1));
  if (!count) return Fail("Protocol error: invalid multibulk length");
  bulks_left_ = static_cast<size_t>(std::max<int64_t>(*count, 0));
  if (bulks_left_ > limits_.max_args) return Fail("Protocol error: invalid multibulk length");
  if (bulks_left_ > max_args_) return Fail("Protocol error: unauthenticated multibulk length");
  position_ = end + kLineEndBytes;
  stage_ = Stage::kBulkLength;
  return ParseStatus::kCommand;
}

// Reads "$<length>\r\n". Returns kCommand when it has read all of it.
ParseStatus RequestParser::ReadBulkLength(std::string_view buffer) {
  size_t end = 0;
  const ParseStatus status =
      FindLineEnd(buffer, '\r', "Protocol error: too big bulk count string", &end);
  if (status != ParseStatus::kCommand) return status;
  if (buffer[position_] != '$') {
    return Fail(std::string("Protocol error: expected '$', got '") + buffer[position_] + "'");
  }
  const std::optional<int64_t> length =
      ParseInt64(buffer.substr(position_ + 1, end - position_ - 1));
  if (!length || *length < 0) return Fail("Protocol error: invalid bulk length");
  bulk_length_ = static_cast<size_t>(*length);
  if (bulk_length_ > limits_.max_bulk) return Fail("Protocol error: invalid bulk length");
  if (bulk_length_ > max_bulk_) return Fail("Protocol error: unauthenticated bulk length");
  position_ = end + kLineEndBytes;
  stage_ = Stage::kBulkData;
  return ParseStatus::kCommand;
}

// Finds the terminator of the line at position_ and returns kCommand; a CR is found only when the
// byte after it is there too. Fails with `too_big` if the line is longer than max_inline bytes. It
// never searches further, so the result does not depend on how the bytes were split.
ParseStatus RequestParser::FindLineEnd(std::string_view buffer, char terminator,
                                       const char* too_big, size_t* end) {
  const size_t available = buffer.size() - position_;
  const size_t searched =
      available > limits_.max_inline ? position_ + limits_.max_inline + 1 : buffer.size();
  const size_t from = std::min(std::max(scanned_, position_), searched);
  const void* found =
      from == searched ? nullptr : std::memchr(buffer.data() + from, terminator, searched - from);
  if (found == nullptr) {
    scanned_ = searched;
    return available > limits_.max_inline ? Fail(too_big) : NeedMore(1);
  }
  *end = static_cast<size_t>(static_cast<const char*>(found) - buffer.data());
  scanned_ = *end;
  if (terminator == '\r' && *end + 1 == buffer.size()) return NeedMore(1);
  return ParseStatus::kCommand;
}

ParseStatus RequestParser::ParseInline(std::string_view buffer) {
  size_t end = 0;
  const ParseStatus status =
      FindLineEnd(buffer, '\n', "Protocol error: too big inline request", &end);
  if (status != ParseStatus::kCommand) return status;
  std::string_view line = buffer.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool quoted = line.find_first_of("\"'") != std::string_view::npos;
  if (quoted ? !SplitQuotedWords(line) : !SplitPlainWords(line)) {
    return Fail("Protocol error: unbalanced quotes in request");
  }
  return Complete(argc_, end + 1);
}

bool RequestParser::SplitPlainWords(std::string_view line) {
  argc_ = 0;
  for (size_t i = 0;;) {
    while (i < line.size() && absl::ascii_isspace(line[i])) ++i;
    if (i == line.size()) return true;
    const size_t begin = i;
    while (i < line.size() && !EndsWord(line[i])) ++i;
    if (argc_ == args_.size()) GrowArgs(argc_ + 1);
    args_[argc_++] = line.substr(begin, i - begin);
  }
}

bool RequestParser::SplitQuotedWords(std::string_view line) {
  std::optional<std::vector<std::string>> words = SplitArgs(line);
  if (!words) return false;
  unquoted_ = std::move(*words);
  oversized_ = true;
  argc_ = unquoted_.size();
  if (argc_ > args_.size()) GrowArgs(argc_);
  std::copy(unquoted_.begin(), unquoted_.end(), args_.begin());
  return true;
}

size_t RequestParser::memory_usage() const {
  size_t bytes = args_.capacity() * sizeof(std::string_view) +
                 extents_.capacity() * sizeof(extents_[0]) +
                 unquoted_.capacity() * sizeof(std::string) + error_.capacity();
  for (const std::string& arg : unquoted_) bytes += arg.capacity();
  return bytes;
}

void RequestParser::GrowArgs(size_t count) {
  args_.resize(std::max(count, args_.size() * 2));
  oversized_ = oversized_ || count > kIdleArgs;
}

void RequestParser::ReleaseSpareMemory() {
  oversized_ = false;
  std::vector<std::string>().swap(unquoted_);
  if (args_.size() > kIdleArgs) std::vector<std::string_view>().swap(args_);
  if (extents_.capacity() > kIdleArgs) std::vector<Extent>().swap(extents_);
}

ParseStatus RequestParser::Complete(size_t argc, size_t consumed) {
  argc_ = argc;
  consumed_ = consumed;
  stage_ = Stage::kStart;
  return ParseStatus::kCommand;
}

ParseStatus RequestParser::NeedMore(size_t wanted) {
  consumed_ = 0;
  wanted_ = wanted;
  return ParseStatus::kNeedMore;
}

ParseStatus RequestParser::Fail(std::string_view error) {
  argc_ = 0;
  consumed_ = 0;
  error_ = error;
  stage_ = Stage::kFailed;
  return ParseStatus::kError;
}

}  // namespace tally::server
