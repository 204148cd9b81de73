// The records of a large sorted set, found by 32-bit handles. Each has a score and a member.
//
// A record is an 8-byte score and the encoded member (core/zset/member_code.h) in a slab. A member
// that is too long for the slab is in a block of its own, to which the record points.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/mem/slab.h"
#include "core/zset/member_code.h"

namespace tally {

class MemberStore {
 public:
  using Handle = Slab::Handle;

  // A member to look for, with its hash.
  struct Key {
    MemberName name;
    uint64_t hash;
  };

  explicit MemberStore(uint64_t seed) : seed_(seed) {}
  MemberStore(const MemberStore&) = delete;
  MemberStore& operator=(const MemberStore&) = delete;

  // Returns Slab::kNull if the store is full.
  [[nodiscard]] Handle Add(double score, const MemberName& name);
  void Free(Handle handle);

  double Score(Handle handle) const {
    double score = 0;
    std::memcpy(&score, slab_.At(handle), sizeof(score));
    return score;
  }
  void SetScore(Handle handle, double score) {
    std::memcpy(slab_.At(handle), &score, sizeof(score));
  }

  // The member's text; lives until the store next changes.
  MemberText Text(Handle handle) const {
    const char* encoded = Encoded(handle);
    if (EncodedTag(encoded) == kLongTextTag) return MemberText(LongText(encoded));
    return MemberText(encoded);
  }

  // Compares the member's text with `text`, as memcmp does.
  int Compare(Handle handle, std::string_view text) const {
    return Text(handle).view().compare(text);
  }

  // What core/table/handle_index.h asks for.
  Key MakeKey(const MemberName& name) const {
    return {name, name.number ? HashNumber(*name.number) : HashText(name.text)};
  }
  uint64_t Hash(Handle handle) const;
  bool Matches(Handle handle, const Key& key) const;

  // The number of members in blocks of their own. If there are any, the destruction of the set must
  // free them one by one.
  size_t long_members() const { return long_members_; }
  size_t MemoryBytes() const { return slab_.MemoryBytes() + long_bytes_; }

 private:
  static constexpr size_t kScoreBytes = sizeof(double);
  static_assert(kScoreBytes + kMaxEncodedBytes <= Slab::kMaxRecordBytes);

  const char* Encoded(Handle handle) const { return slab_.At(handle) + kScoreBytes; }
  static ElementView LongText(const char* encoded);
  uint64_t HashNumber(int64_t number) const {
    return XXH3_64bits_withSeed(&number, sizeof(number), seed_);
  }
  uint64_t HashText(std::string_view text) const {
    return XXH3_64bits_withSeed(text.data(), text.size(), seed_);
  }

  uint64_t seed_;
  Slab slab_;
  size_t long_members_ = 0;
  size_t long_bytes_ = 0;
};

}  // namespace tally
