// The conversation in which a replica asks a primary for its stream: what it sends, one request
// after the other, and what the answers mean. It knows no sockets.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

class PrimaryHandshake {
 public:
  // Where the data of the replica comes from, and up to which byte of that stream it has it.
  struct From {
    std::string replid;
    uint64_t offset = 0;
  };
  struct Request {
    std::string user = {};      // may be empty
    std::string password = {};  // empty: no AUTH
    int64_t listening_port = 0;
    std::string announced_ip = {};  // empty: as the primary sees it
    std::optional<From> from = {};  // none: all data is asked for
    // The id before, and up to which byte that is true: the primary may know that one only.
    std::optional<From> earlier = {};
    bool hands_over = false;  // FAILOVER: the other is to become the primary. Requires `from`
    bool by_force = false;    // FORCE: even if it lacks some of the data
  };
  enum class Answer : uint8_t {
    kNotYet,
    kFullSync,  // all data comes, and the stream after it
    kContinue,  // the stream goes on where the data ends
  };

  explicit PrimaryHandshake(const Request& request);

  // What is to be sent before any answer has come.
  const std::string& First() const { return requests_.front().bytes; }
  // Takes a line that the primary has sent, without its end, and appends what is to be sent then.
  // Unavailable if the primary cannot serve at present; another error if it never will like this.
  absl::StatusOr<Answer> Take(std::string_view line, std::string& out);

  // Whether PSYNC was sent and has no answer yet.
  bool is_unanswered() const { return requests_[next_].step == Step::kSync && !answered_; }
  // Whether the other was asked to take over, and is a replica that never has: who takes over
  // begins a history of its own.
  bool is_refused() const { return refused_; }

  // After kFullSync: where the data will come from. After kContinue: where what is here comes from,
  // perhaps under a new name.
  const From& from() const { return from_; }

 private:
  enum class Step : uint8_t { kPing, kAuth, kOption, kSync };
  struct Sent {
    Step step;
    std::string bytes;
  };

  void Add(Step step, const std::vector<std::string_view>& words);
  absl::Status JudgePing(std::string_view line) const;
  absl::StatusOr<Answer> JudgeSync(std::string_view line);

  std::vector<Sent> requests_;
  size_t next_ = 0;  // the request whose answer is awaited
  bool has_data_ = false;
  bool answered_ = false;
  bool refused_ = false;
  From from_;
};

}  // namespace tally::server
