#include "server/replication/replica_link.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

// The base is read in pieces of this size.
constexpr size_t kPieceBytes = 64 * 1024;

}  // namespace

std::string ReplicaLink::ip() const {
  if (!ip_.empty()) return ip_;
  return client_.address.substr(0, client_.address.rfind(':'));
}

void ReplicaLink::Wait(uint64_t offset, int64_t now_ms) {
  started_ = true;
  stage_ = Stage::kWaiting;
  cursor_ = offset;
  sent_ms_ = taken_ms_ = acknowledged_ms_ = now_ms;
}

void ReplicaLink::SendBase(std::shared_ptr<const SyncBase> base, int64_t now_ms) {
  client_.output.Append(StrCat("$", base->bytes, "\r\n"));
  cursor_ = base->offset;
  base_ = std::move(base);
  base_sent_ = 0;
  stage_ = Stage::kSending;
  sent_ms_ = taken_ms_ = now_ms;
}

void ReplicaLink::Continue(uint64_t offset, int64_t now_ms) {
  started_ = true;
  stage_ = Stage::kOnline;
  cursor_ = acknowledged_ = offset;
  sent_ms_ = taken_ms_ = acknowledged_ms_ = now_ms;
}

ReplicaLink::Pulled ReplicaLink::Pull(const Backlog& backlog, size_t most, int64_t now_ms) {
  if (client_.output.empty()) taken_ms_ = now_ms;
  if (stage_ == Stage::kWaiting) return Pulled::kAll;
  const size_t held = client_.output.size();
  Pulled pulled = Pulled::kSome;
  if (stage_ == Stage::kSending) pulled = PullBase(most, now_ms);
  if (stage_ == Stage::kOnline) pulled = PullFrames(backlog, most);
  if (client_.output.size() > held) sent_ms_ = now_ms;
  return pulled;
}

ReplicaLink::Pulled ReplicaLink::PullBase(size_t most, int64_t now_ms) {
  std::array<char, kPieceBytes> piece;
  while (base_sent_ < base_->bytes && client_.output.size() < most) {
    const size_t size = std::min<uint64_t>(piece.size(), base_->bytes - base_sent_);
    const absl::Status read = base_->file->ReadAt(base_sent_, std::span(piece).first(size));
    if (!read.ok()) {
      error_ = std::string(read.message());
      return Pulled::kBadFile;
    }
    client_.output.Append(std::string_view(piece.data(), size));
    base_sent_ += size;
  }
  if (base_sent_ == base_->bytes) {
    base_ = nullptr;
    stage_ = Stage::kOnline;
    acknowledged_ = cursor_;
    acknowledged_ms_ = now_ms;
  }
  return Pulled::kSome;
}

ReplicaLink::Pulled ReplicaLink::PullFrames(const Backlog& backlog, size_t most) {
  ByteBlocks& output = client_.output;
  while (output.size() < most) {
    if (frame_left_ == 0 && asks_ && cursor_ >= ask_at_) {
      asks_ = false;
      output.Append(frames_.Header(cursor_, 0, std::string_view()));
    }
    if (cursor_ == backlog.end()) return Pulled::kAll;
    if (frame_left_ == 0) {
      const auto part = backlog.From(cursor_);
      if (!part) return Pulled::kTooLate;
      output.Append(frames_.Header(cursor_, part->database, part->effects));
      frame_left_ = part->effects.size();
    }
    const size_t room = most - std::min(most, output.size());
    const std::string_view bytes =
        backlog.Bytes(cursor_, std::min<uint64_t>(frame_left_, std::max<size_t>(room, 1)));
    output.Append(bytes);
    cursor_ += bytes.size();
    frame_left_ -= bytes.size();
  }
  return Pulled::kSome;
}

void ReplicaLink::SendKeepAlive(const Backlog& backlog, int64_t now_ms) {
  // What it has not taken says that the link lives, as soon as it takes it.
  if (!client_.output.empty()) return;
  sent_ms_ = now_ms;
  if (stage_ == Stage::kWaiting) return client_.output.Append("\n");
  if (stage_ != Stage::kOnline) return;
  AskAt(cursor_);
  PullFrames(backlog, kFrameHeaderBytes);
}

bool ReplicaLink::Acknowledge(uint64_t offset, int64_t now_ms) {
  if (!online() || offset > cursor_) return false;
  acknowledged_ = std::max(acknowledged_, offset);
  acknowledged_ms_ = now_ms;
  return true;
}

}  // namespace tally::server
