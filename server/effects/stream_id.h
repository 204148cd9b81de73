// Which history the stream of effects belongs to. Two servers with the same id have the same bytes
// at the same offsets. A server gets a new id when it begins to write by itself: at its start, and
// when it is promoted. It remembers the id before, and up to where that is true, so that the
// replicas of the old primary can go on with the new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tally::server {

class StreamId {
 public:
  static constexpr size_t kDigits = 40;
  // The id of nothing, as INFO shows it.
  static std::string None() { return std::string(kDigits, '0'); }
  // Whether the word may be an id: 40 lower-case hexadecimal digits.
  static bool IsId(std::string_view word);

  // `id`, here and below, has the form of IsId.
  explicit StreamId(std::string id = None()) : id_(std::move(id)) {}

  const std::string& id() const { return id_; }
  // None() if there is none.
  const std::string& previous() const { return previous_; }
  // The stream up to this offset is the same under the previous id.
  uint64_t previous_end() const { return previous_end_; }
  bool has_previous() const { return previous_ != None(); }

  // The history goes on under a new id; what is before `offset` also has the old one.
  void Shift(std::string id, uint64_t offset);
  // The history is another one: that of `id`.
  void Adopt(std::string id);
  // The history is that of a primary which has itself got a new id: the old id is true up to
  // `offset`. For a replica whose primary was promoted.
  void Follow(std::string id, uint64_t offset);

  // Whether a reader that has `offset` bytes of the history `id` may go on with this stream, whose
  // end is at `end`.
  bool Continues(std::string_view id, uint64_t offset, uint64_t end) const;

 private:
  std::string id_;
  std::string previous_ = None();
  uint64_t previous_end_ = 0;
};

}  // namespace tally::server
