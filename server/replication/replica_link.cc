#include "server/replication/replica_link.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

// The base is read in pieces of this size.
constexpr size_t kPieceBytes = 64 * 1024;
// So many batches of a log are read in one turn for one replica.
constexpr int kMostReads = 16;
// Messages that a slow replica has not taken.
constexpr size_t kMostMessageBytes = size_t{32} << 20;

}  // namespace

std::string ReplicaLink::ip() const {
  if (!ip_.empty()) return ip_;
  return client_.address.substr(0, client_.address.rfind(':'));
}

std::string ReplicaLink::name() const {
  return port_ == 0 ? client_.address : StrCat(ip(), ":", port_);
}

void ReplicaLink::Wait(uint64_t offset, int64_t now_ms) {
  started_ = true;
  stage_ = Stage::kWaiting;
  cursor_ = offset;
  sent_ms_ = taken_ms_ = acknowledged_ms_ = now_ms;
}

// Nothing of the stream is kept for it.
void ReplicaLink::WaitForRdb(std::string head, int64_t now_ms) {
  Wait(UINT64_MAX, now_ms);
  rdb_head_ = std::move(head);
}

void ReplicaLink::SendBase(std::shared_ptr<const SyncBase> base, int64_t now_ms) {
  client_.output.Append(StrCat(rdb_head_, "$", base->bytes, "\r\n"));
  if (!wants_rdb_) cursor_ = base->offset;
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
  if (base_sent_ < base_->bytes) return Pulled::kSome;
  if (wants_rdb_) return client_.output.empty() ? Pulled::kRdbSent : Pulled::kAll;
  base_ = nullptr;
  stage_ = Stage::kOnline;
  acknowledged_ = cursor_;
  acknowledged_ms_ = now_ms;
  return Pulled::kSome;
}

// The last one is kept, however long it is.
void ReplicaLink::Publish(uint64_t offset, std::shared_ptr<const std::string> command) {
  message_bytes_ += command->size();
  messages_.push_back({offset, std::move(command)});
  while (message_bytes_ > kMostMessageBytes && messages_.size() > 1) {
    message_bytes_ -= messages_.front().command->size();
    messages_.pop_front();
  }
}

bool ReplicaLink::BeginMessage() {
  if (messages_.empty() || messages_.front().offset > cursor_) return false;
  Begin({kMessages, std::move(messages_.front().command), 0});
  messages_.pop_front();
  message_bytes_ -= frame_left_;
  return true;
}

void ReplicaLink::Begin(const Backlog::Part& part) {
  frame_ = part;
  frame_left_ = part.effects().size();
  is_message_ = part.database == kMessages;
  client_.output.Append(frames_.Header(cursor_, part.database, part.effects()));
}

ReplicaLink::Pulled ReplicaLink::BeginFrame(const Backlog& backlog) {
  if (cursor_ == backlog.end()) return Pulled::kAll;
  if (const auto part = backlog.From(cursor_)) {
    source_ = nullptr;
    Begin(*part);
    return Pulled::kSome;
  }
  return source_ == nullptr ? Pulled::kTooLate : BeginFrameOfSource();
}

ReplicaLink::Pulled ReplicaLink::BeginFrameOfSource() {
  StreamSource::Part read;
  const auto more = source_->Next(read);
  if (!more.ok()) {
    error_ = std::string(more.status().message());
    return Pulled::kBadFile;
  }
  if (!*more) return Pulled::kAll;
  if (read.effects.empty()) return Pulled::kSome;
  if (read.offset != cursor_) {
    error_ = StrCat("the logs go on at offset ", read.offset, " in place of ", cursor_);
    return Pulled::kBadFile;
  }
  Begin({read.database, std::make_shared<const std::string>(std::move(read.effects)), 0});
  return Pulled::kSome;
}

ReplicaLink::Pulled ReplicaLink::PullFrames(const Backlog& backlog, size_t most) {
  ByteBlocks& output = client_.output;
  // A source may have to pass over much before it comes to what is needed.
  for (int reads = 0; output.size() < most && reads < kMostReads;) {
    if (frame_left_ == 0) {
      if (asks_ && cursor_ >= ask_at_) {
        asks_ = false;
        output.Append(frames_.Header(cursor_, 0, std::string_view()));
      }
      if (BeginMessage()) continue;
      if (reads_source()) ++reads;
      const Pulled begun = BeginFrame(backlog);
      if (begun != Pulled::kSome) return begun;
      continue;
    }
    const size_t size = std::min(frame_left_, most - output.size());
    output.Append(std::string_view(*frame_.batch).substr(frame_.begin, size));
    frame_.begin += size;
    frame_left_ -= size;
    if (!is_message_) cursor_ += size;
    if (frame_left_ == 0) frame_ = {};
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
