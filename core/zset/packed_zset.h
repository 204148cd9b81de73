// A small sorted set in one allocation: entries in order, each an 8-byte score and the encoded
// member (core/zset/member_code.h). Everything is O(bytes).
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/zset/member_code.h"
#include "core/zset/position.h"

namespace tally {

class PackedZSet {
 public:
  // A set of more bytes is never packed, whatever the limits say.
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // O(bytes).
  PackedZSet Clone() const;
  // Keeps the allocation.
  void Clear() { used_ = count_ = 0; }

  size_t size() const { return count_; }

  // Whether the set can also hold this member; its text must fit inline.
  bool HasRoomFor(const MemberName& name) const;

  std::optional<double> Find(const MemberName& name) const;
  // Requires that the member is not in the set and that HasRoomFor(name).
  void Insert(double score, const MemberName& name);
  // False if the member is not in the set.
  bool Erase(const MemberName& name);

  size_t RankOf(const Position& position) const;
  // Calls visit(member, score) until it returns false.
  void ForEach(RankRange range, bool reverse,
               absl::FunctionRef<bool(const ElementView&, double)> visit) const;
  void EraseRange(RankRange range);

  size_t MemoryBytes() const;

 private:
  const char* Next(const char* entry) const;
  const char* Entry(size_t rank) const;
  const char* FindEntry(const MemberName& name) const;
  void Resize(uint32_t bytes);
  void EraseBytes(const char* begin, const char* end);

  std::unique_ptr<char[]> entries_;
  uint32_t used_ = 0;
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
};

}  // namespace tally
