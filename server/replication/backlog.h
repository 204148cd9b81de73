// The last part of the stream of effects, in memory: what replicas are sent, and what one that was
// away for a while can still get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

class Backlog {
 public:
  // Deliveries are joined until they have this many bytes: so a frame has about as many, or those
  // of one large delivery.
  static constexpr size_t kBatchBytes = 32 * 1024;

  // The first delivery will begin at `offset`.
  explicit Backlog(uint64_t offset) : begin_(offset), end_(offset) {}

  // A delivery of the stream, at the end; see EffectSink. Not empty.
  void Append(size_t database, std::string_view effects);
  // Drops what is at the front, as long as at least `size` bytes are left and nothing from the
  // offset `needed` on is dropped.
  void Trim(uint64_t size, uint64_t needed);

  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  uint64_t bytes() const { return end_ - begin_; }

  // Some whole deliveries, the first of which begins in `database`. They are the bytes of `batch`
  // from `begin` on; more may be appended to it later.
  struct Part {
    size_t database = 0;
    std::shared_ptr<const std::string> batch;
    size_t begin = 0;

    std::string_view effects() const { return std::string_view(*batch).substr(begin); }
  };
  // The next deliveries after `offset`, up to the end of a batch; nullopt unless a delivery begins
  // at `offset`.
  std::optional<Part> From(uint64_t offset) const;
  // Whether a reader can go on at `offset`: a delivery begins there, or it is the end.
  bool Has(uint64_t offset) const { return offset == end_ || From(offset).has_value(); }

 private:
  // Where a delivery begins in its batch, and in which database.
  struct Mark {
    uint32_t position;
    uint32_t database;
  };
  struct Batch {
    uint64_t offset;
    std::shared_ptr<std::string> bytes;
    std::vector<Mark> marks;  // positions rising
  };

  // The batch that holds the byte at `offset`; null if there is none.
  const Batch* Find(uint64_t offset) const;

  std::deque<Batch> batches_;
  uint64_t begin_;
  uint64_t end_;
};

}  // namespace tally::server
