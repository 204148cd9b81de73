#include "core/zset/packed_zset.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

constexpr size_t kScoreBytes = sizeof(double);

double ScoreOf(const char* entry) {
  double score = 0;
  std::memcpy(&score, entry, sizeof(score));
  return score;
}

}  // namespace

PackedZSet PackedZSet::Clone() const {
  PackedZSet copy;
  if (used_ == 0) return copy;
  copy.Resize(used_);
  std::memcpy(copy.entries_.get(), entries_.get(), used_);
  copy.used_ = used_;
  copy.count_ = count_;
  return copy;
}

bool PackedZSet::HasRoomFor(const MemberName& name) const {
  return used_ + kScoreBytes + EncodedBytes(name) <= kMaxBytes;
}

std::optional<double> PackedZSet::Find(const MemberName& name) const {
  const char* entry = FindEntry(name);
  if (entry == nullptr) return std::nullopt;
  return ScoreOf(entry);
}

void PackedZSet::Insert(double score, const MemberName& name) {
  const size_t rank = RankOf(Position::Before(score, name.text));
  const size_t offset = static_cast<size_t>(Entry(rank) - entries_.get());
  const size_t bytes = kScoreBytes + EncodedBytes(name);
  const auto used = static_cast<uint32_t>(used_ + bytes);
  if (used > capacity_) Resize(used);
  char* entry = entries_.get() + offset;
  std::memmove(entry + bytes, entry, used_ - offset);
  std::memcpy(entry, &score, kScoreBytes);
  EncodeMember(name, entry + kScoreBytes);
  used_ = used;
  ++count_;
}

bool PackedZSet::Erase(const MemberName& name) {
  const char* entry = FindEntry(name);
  if (entry == nullptr) return false;
  --count_;
  EraseBytes(entry, Next(entry));
  return true;
}

size_t PackedZSet::RankOf(const Position& position) const {
  const char* entry = entries_.get();
  for (size_t rank = 0; rank < count_; ++rank, entry = Next(entry)) {
    const auto compare = [entry](std::string_view text) {
      return MemberText(entry + kScoreBytes).view().compare(text);
    };
    if (!Precedes(ScoreOf(entry), compare, position)) return rank;
  }
  return count_;
}

void PackedZSet::ForEach(RankRange range, bool reverse,
                         absl::FunctionRef<bool(const ElementView&, double)> visit) const {
  Check(range.begin <= range.end && range.end <= count_, "rank range");
  // An entry says only where the next one begins, so a reverse walk needs all positions first.
  absl::InlinedVector<const char*, 128> entries(range.size());
  const char* entry = Entry(range.begin);
  for (const char*& place : entries) {
    place = entry;
    entry = Next(entry);
  }
  if (reverse) std::reverse(entries.begin(), entries.end());
  for (const char* visited : entries) {
    const MemberText member(visited + kScoreBytes);
    if (!visit(member.view(), ScoreOf(visited))) return;
  }
}

void PackedZSet::EraseRange(RankRange range) {
  Check(range.begin <= range.end && range.end <= count_, "rank range");
  if (range.empty()) return;
  const char* begin = Entry(range.begin);
  const char* end = Entry(range.end);
  count_ -= static_cast<uint32_t>(range.size());
  EraseBytes(begin, end);
}

size_t PackedZSet::MemoryBytes() const { return HeapBytes(capacity_); }

const char* PackedZSet::Next(const char* entry) const {
  return entry + kScoreBytes + EncodedBytes(entry + kScoreBytes);
}

const char* PackedZSet::Entry(size_t rank) const {
  if (rank == count_) return entries_.get() + used_;
  const char* entry = entries_.get();
  while (rank-- > 0) entry = Next(entry);
  return entry;
}

const char* PackedZSet::FindEntry(const MemberName& name) const {
  if (count_ == 0 || !FitsInline(name)) return nullptr;
  // The encoding of a member is unique, so comparing encodings compares members.
  char wanted[kMaxEncodedBytes];
  const size_t bytes = EncodedBytes(name);
  EncodeMember(name, wanted);
  const char* end = entries_.get() + used_;
  for (const char* entry = entries_.get(); entry != end; entry = Next(entry)) {
    const char* encoded = entry + kScoreBytes;
    if (*encoded == *wanted && std::memcmp(encoded, wanted, bytes) == 0) return entry;
  }
  return nullptr;
}

void PackedZSet::Resize(uint32_t bytes) {
  const auto capacity = static_cast<uint32_t>(HeapBytes(bytes));
  std::unique_ptr<char[]> entries(new char[capacity]);
  if (used_ > 0) std::memcpy(entries.get(), entries_.get(), used_);
  entries_ = std::move(entries);
  capacity_ = capacity;
}

void PackedZSet::EraseBytes(const char* begin, const char* end) {
  char* gap = entries_.get() + (begin - entries_.get());
  std::memmove(gap, end, static_cast<size_t>(entries_.get() + used_ - end));
  used_ -= static_cast<uint32_t>(end - begin);
  if (used_ == 0) {
    entries_.reset();
    capacity_ = 0;
  } else if (HeapBytes(used_) <= capacity_ / 2) {
    Resize(used_);
  }
}

}  // namespace tally
