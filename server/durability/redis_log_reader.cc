#include "server/durability/redis_log_reader.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/bytes/str_cat.h"
#include "server/aof/log_format.h"

namespace tally::server {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;
constexpr size_t kMaxAnnotation = 1024;

}  // namespace

absl::StatusOr<RedisLogReader::Step> RedisLogReader::Next() {
  while (true) {
    const std::string_view window = Window();
    if (window.empty()) {
      const auto more = Grow(1);
      if (!more.ok()) return more.status();
      if (!*more) return Step::kEnd;
      continue;
    }
    if (window.front() == '#') {
      const auto passed = PassAnnotation();
      if (!passed.ok()) return passed.status();
      if (!*passed) return Step::kTorn;
      continue;
    }
    size_t end = 0;
    const ScanResult result = ScanCommand(window, end, args_);
    if (result == ScanResult::kInvalid) {
      return absl::DataLossError(
          StrCat(file_.path(), " offset ", offset() + end, ": not a command"));
    }
    if (result == ScanResult::kCommand) {
      position_ += end;
      return Step::kCommand;
    }
    const auto grown = Grow(std::max(end, window.size() + 1));
    if (!grown.ok()) return grown.status();
    if (!*grown) return Step::kTorn;
  }
}

absl::StatusOr<bool> RedisLogReader::PassAnnotation() {
  while (true) {
    const std::string_view window = Window();
    const size_t end = window.find('\n');
    if (end != std::string_view::npos) {
      position_ += end + 1;
      return true;
    }
    if (window.size() > kMaxAnnotation) {
      return absl::DataLossError(StrCat(file_.path(), " offset ", offset(), ": not a command"));
    }
    const auto grown = Grow(window.size() + 1);
    if (!grown.ok() || !*grown) return grown;
  }
}

absl::StatusOr<bool> RedisLogReader::Grow(uint64_t needed) {
  if (offset() + needed > size_) return false;
  const size_t kept = filled_ - position_;
  if (kept > 0) std::memmove(buffer_.data(), buffer_.data() + position_, kept);
  begin_ += position_;
  position_ = 0;
  filled_ = kept;
  // Doubling keeps the cost of a large command linear.
  const uint64_t ahead = std::min<uint64_t>(std::max(2 * kept, kReadBytes), size_ - begin_);
  const uint64_t wanted = std::max(needed, ahead);
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  const auto count = ReadFull(file_, begin_ + filled_, std::span(buffer_).subspan(filled_));
  if (!count.ok()) return count.status();
  filled_ += *count;
  if (filled_ >= needed) return true;
  return absl::DataLossError(
      StrCat(file_.path(), " offset ", begin_ + filled_, ": the file became shorter"));
}

}  // namespace tally::server
