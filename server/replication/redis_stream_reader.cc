#include "server/replication/redis_stream_reader.h"

#include "core/bytes/recycle.h"
#include "core/bytes/str_cat.h"
#include "server/log/quoted.h"

namespace tally::server {
namespace {

// A buffer that holds no more than this many read bytes before the rest is not moved.
constexpr size_t kMostKept = size_t{1} << 20;
constexpr size_t kMostLengthDigits = 10;
constexpr size_t kMostShownBytes = 32;

}  // namespace

void RedisStreamReader::Take(std::string_view bytes) {
  args_.clear();
  DropRead();
  buffer_.append(bytes);
}

// Moves the rest to the front when that is less than what is dropped, so that each byte is moved
// once on average.
void RedisStreamReader::DropRead() {
  if (begin_ == buffer_.size()) {
    Recycle(buffer_, kMostKept);
    begin_ = 0;
  } else if (begin_ > kMostKept && begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
}

absl::StatusOr<bool> RedisStreamReader::Next() {
  args_.clear();
  if (words_left_ == 0) {
    words_.clear();
    const auto complete = ReadNumber('*', most_bytes_, words_left_);
    if (!complete.ok() || !*complete) return complete;
    if (words_left_ == 0) return NotACommand();
  }
  while (words_left_ > 0) {
    const auto complete = ReadWord();
    if (!complete.ok() || !*complete) return complete;
  }
  for (const Word& word : words_) {
    args_.push_back(std::string_view(buffer_).substr(begin_ + word.begin, word.length));
  }
  size_ = scanned_;
  begin_ += scanned_;
  scanned_ = 0;
  return true;
}

absl::StatusOr<bool> RedisStreamReader::ReadNumber(char type, uint64_t most, uint64_t& number) {
  const std::string_view text = rest();
  if (!text.empty() && text.front() != type) return NotACommand();
  const size_t end = text.substr(0, kMostLengthDigits + 3).find('\n');
  if (end == std::string_view::npos) {
    if (text.size() >= kMostLengthDigits + 3) return NotACommand();
    return false;
  }
  if (end < 3 || text[end - 1] != '\r') return NotACommand();
  uint64_t value = 0;
  for (const char digit : text.substr(1, end - 2)) {
    if (digit < '0' || digit > '9') return NotACommand();
    value = value * 10 + static_cast<uint64_t>(digit - '0');
  }
  if (value > most) {
    return absl::DataLossError(
        StrCat("the primary announces a command of more than ", most_bytes_, " bytes"));
  }
  number = value;
  scanned_ += end + 1;
  return true;
}

absl::StatusOr<bool> RedisStreamReader::ReadWord() {
  if (!in_word_) {
    const auto complete = ReadNumber('$', most_bytes_ - scanned_, word_length_);
    if (!complete.ok() || !*complete) return complete;
    in_word_ = true;
  }
  const std::string_view text = rest();
  if (text.size() < word_length_ + 2) return false;
  if (text.substr(word_length_, 2) != "\r\n") return NotACommand();
  words_.push_back({scanned_, word_length_});
  scanned_ += word_length_ + 2;
  in_word_ = false;
  --words_left_;
  if (scanned_ >= most_bytes_) {
    return absl::DataLossError(
        StrCat("the primary sends a command of more than ", most_bytes_, " bytes"));
  }
  return true;
}

absl::Status RedisStreamReader::NotACommand() const {
  return absl::DataLossError(
      StrCat("what the primary sends is no command: ", Quoted(rest().substr(0, kMostShownBytes))));
}

}  // namespace tally::server
