// Receives the data of a full sync, which comes as bytes that may be cut anywhere: empty lines
// while the primary prepares it, then "$<length>" or "$EOF:<mark>", and the payload, which has that
// length or ends before that mark. It knows no sockets and no files.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally::server {

class PayloadReceiver {
 public:
  using Write = absl::FunctionRef<absl::Status(std::string_view payload)>;

  // Gives what is payload to `write`, and returns how many of the bytes it has taken: what follows
  // the payload is left. After an error nothing may be taken any more.
  absl::StatusOr<size_t> Take(std::string_view bytes, Write write);

  bool begun() const { return state_ != State::kHeader; }
  bool done() const { return state_ == State::kDone; }
  // Whether nothing follows the payload until the primary hears of the replica.
  bool is_marked() const { return !mark_.empty(); }
  // The bytes of the payload that were given to `write`, and how many there will be, if it is
  // known.
  uint64_t received() const { return received_; }
  const std::optional<uint64_t>& total() const { return total_; }

 private:
  enum class State : uint8_t { kHeader, kCounted, kMarked, kDone };

  absl::StatusOr<size_t> TakeHeader(std::string_view bytes);
  absl::Status ReadHeader();
  absl::StatusOr<size_t> TakeCounted(std::string_view bytes, Write write);
  absl::StatusOr<size_t> TakeMarked(std::string_view bytes, Write write);

  State state_ = State::kHeader;
  std::string header_;
  std::string mark_;  // empty unless a mark ends the payload
  std::string held_;  // bytes that may begin the mark
  uint64_t received_ = 0;
  std::optional<uint64_t> total_;
};

}  // namespace tally::server
