#include "server/loop/migration.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tally::server {
namespace {

constexpr std::string_view kConnecting = "connecting to the client";
constexpr std::string_view kWriting = "writing to target instance";
constexpr std::string_view kReading = "reading from target instance";
// The answers are statuses, errors and numbers.
constexpr size_t kMostLine = 4096;
// So much of the commands is given to the socket at once.
constexpr size_t kPiece = size_t{256} << 10;

}  // namespace

Migration::Migration(EventPoller& poller, const MigrationTarget& target, MigrationBatch batch,
                     int64_t now_ms)
    : socket_(poller),
      target_(target),
      logins_left_(target.logins),
      progress_ms_(now_ms),
      now_ms_(now_ms) {
  Continue(std::move(batch), now_ms);
  rounds_ = 1;
}

void Migration::Continue(MigrationBatch batch, int64_t now_ms) {
  batch_ = std::move(batch);
  result_ = std::make_unique<MigrationResult>();
  result_->keys = std::move(batch_.keys);
  sent_ = 0;
  progress_ms_ = now_ms_ = now_ms;
  ++rounds_;
}

std::unique_ptr<MigrationResult> Migration::Take() {
  if (result_ != nullptr) result_->rounds = rounds_;
  return std::move(result_);
}

bool Migration::BreakOff(std::string_view doing) {
  result_->failure = doing;
  socket_.Close();
  return false;
}

bool Migration::Continue(int64_t now_ms) {
  now_ms_ = now_ms;
  if (result_ == nullptr || !result_->failure.empty()) return true;
  if (!Connect() || !Send() || !Receive() || !Send()) return true;
  if (is_complete() || !result_->login_error.empty()) return true;
  if (now_ms - progress_ms_ < target_.timeout_ms) return false;
  const bool connected = socket_.state() == PeerSocket::State::kConnected;
  const bool all_sent = connected && sent_ == batch_.commands.size() && !socket_.has_output();
  BreakOff(!connected ? kConnecting : all_sent || logins_left_ > 0 ? kReading : kWriting);
  return true;
}

bool Migration::Connect() {
  using State = PeerSocket::State;
  if (socket_.state() == State::kConnected) return true;
  if (socket_.state() == State::kClosed) return BreakOff(kConnecting);
  const bool was_found = socket_.state() == State::kConnecting;
  if (const absl::Status status = socket_.Continue(); !status.ok()) {
    return BreakOff(was_found ? kWriting : kConnecting);
  }
  if (socket_.state() == State::kConnected) progress_ms_ = now_ms_;
  return true;
}

// The keys follow when the login was right: otherwise they could get into another database.
bool Migration::Send() {
  if (socket_.state() != PeerSocket::State::kConnected) return true;
  const std::string& commands = logins_left_ > 0 ? target_.login : batch_.commands;
  while (true) {
    const bool had_output = socket_.has_output();
    if (!socket_.Flush()) return BreakOff(kWriting);
    if (had_output && !socket_.has_output()) progress_ms_ = now_ms_;
    if (socket_.has_output() || sent_ == commands.size()) return true;
    const size_t piece = std::min(kPiece, commands.size() - sent_);
    socket_.Send(std::string_view(commands).substr(sent_, piece));
    sent_ += piece;
  }
}

bool Migration::Receive() {
  std::array<char, 16384> buffer;
  while (socket_.state() == PeerSocket::State::kConnected && socket_.HasEvent()) {
    const Stream::Received received = socket_.Read(buffer);
    if (received.bytes > 0) {
      progress_ms_ = now_ms_;
      received_.append(buffer.data(), received.bytes);
      if (!TakeLines()) return false;
      if (is_complete()) return true;
    }
    if (received.ended) return BreakOff(kReading);
    if (received.drained) return true;
  }
  return true;
}

bool Migration::TakeLines() {
  size_t begin = 0;
  for (size_t end = received_.find("\r\n"); end != std::string::npos;
       end = received_.find("\r\n", begin)) {
    if (!TakeLine(std::string_view(received_).substr(begin, end - begin))) return false;
    begin = end + 2;
  }
  received_.erase(0, begin);
  return received_.size() <= kMostLine || BreakOff(kReading);
}

bool Migration::TakeLine(std::string_view line) {
  const bool is_error = line.starts_with('-');
  const bool is_answer = is_error || line.starts_with('+') || line.starts_with(':');
  if (!is_answer || line.size() > kMostLine || is_complete()) return BreakOff(kReading);
  line.remove_prefix(1);
  if (logins_left_ > 0) {
    if (is_error && result_->login_error.empty()) result_->login_error = line;
    if (--logins_left_ == 0) sent_ = 0;
    return true;
  }
  result_->answers.push_back({is_error, std::string(line)});
  return true;
}

}  // namespace tally::server
