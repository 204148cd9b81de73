#include "server/replication/payload_receiver.h"

#include <absl/strings/numbers.h>

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/log/quoted.h"

namespace tally::server {
namespace {

constexpr size_t kMarkBytes = 40;
constexpr size_t kMostHeaderBytes = 256;
constexpr size_t kMostShownHeader = 128;
constexpr std::string_view kMarkedBegin = "$EOF:";

}  // namespace

absl::StatusOr<size_t> PayloadReceiver::Take(std::string_view bytes, Write write) {
  size_t taken = 0;
  while (taken < bytes.size() && !done()) {
    const std::string_view rest = bytes.substr(taken);
    absl::StatusOr<size_t> some = state_ == State::kHeader    ? TakeHeader(rest)
                                  : state_ == State::kCounted ? TakeCounted(rest, write)
                                                              : TakeMarked(rest, write);
    if (!some.ok()) return some;
    taken += *some;
  }
  return taken;
}

absl::StatusOr<size_t> PayloadReceiver::TakeHeader(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  const size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
  header_.append(bytes.substr(0, std::min(end, bytes.size())));
  if (header_.size() > kMostHeaderBytes) {
    return absl::DataLossError("the primary announces its data with a line that is too long");
  }
  if (end == std::string_view::npos) return taken;
  if (header_.ends_with('\r')) header_.pop_back();
  if (!header_.empty()) {
    if (absl::Status status = ReadHeader(); !status.ok()) return status;
  }
  header_.clear();
  return taken;
}

absl::Status PayloadReceiver::ReadHeader() {
  const std::string_view header = header_;
  if (header.starts_with(kMarkedBegin) && header.size() == kMarkedBegin.size() + kMarkBytes) {
    mark_ = header.substr(kMarkedBegin.size());
    state_ = State::kMarked;
    return absl::OkStatus();
  }
  uint64_t length = 0;
  const bool counts = header.starts_with('$') && header.size() > 1 &&
                      header.find_first_not_of("0123456789", 1) == std::string_view::npos &&
                      absl::SimpleAtoi(header_.substr(1), &length);
  if (counts) {
    total_ = length;
    state_ = length == 0 ? State::kDone : State::kCounted;
    return absl::OkStatus();
  }
  const std::string shown = Quoted(header.substr(0, kMostShownHeader));
  if (header.starts_with('-')) {
    return absl::UnavailableError(StrCat("the primary cannot send its data: ", shown));
  }
  return absl::DataLossError(StrCat("the primary announces its data with ", shown));
}

absl::StatusOr<size_t> PayloadReceiver::TakeCounted(std::string_view bytes, Write write) {
  const uint64_t left = *total_ - received_;
  const std::string_view payload = bytes.substr(0, std::min<uint64_t>(left, bytes.size()));
  if (absl::Status status = write(payload); !status.ok()) return status;
  received_ += payload.size();
  if (received_ == *total_) state_ = State::kDone;
  return payload.size();
}

// The mark may be cut anywhere, so the last bytes are held back until it is known whether they
// belong to it.
absl::StatusOr<size_t> PayloadReceiver::TakeMarked(std::string_view bytes, Write write) {
  const size_t held = held_.size();
  held_.append(bytes);
  const size_t mark = held_.find(mark_);
  const bool ends = mark != std::string::npos;
  const size_t payload = ends ? mark : held_.size() - std::min(held_.size(), kMarkBytes - 1);
  if (payload > 0) {
    if (absl::Status status = write(std::string_view(held_).substr(0, payload)); !status.ok()) {
      return status;
    }
  }
  received_ += payload;
  held_.erase(0, payload);
  if (!ends) return bytes.size();
  state_ = State::kDone;
  const size_t taken = mark + kMarkBytes - held;
  held_.clear();
  return taken;
}

}  // namespace tally::server
