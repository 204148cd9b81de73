#include "core/limit/hold_record.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

// The head of a record: the state in bits 0-2, and what is in it.
constexpr uint8_t kStateMask = 0x07;
constexpr uint8_t kHasCounted = 0x08;
constexpr uint8_t kSeveralKeys = 0x10;
constexpr uint8_t kSeveralParts = 0x20;
// Of a settled id: as much was counted as was held.
constexpr uint8_t kCountedHeld = 0x20;
// Each share is at the part's instant, and counts in the window as a whole.
constexpr uint8_t kPlainShares = 0x40;
// Of a hold: it has expired. The record stays as it is, and is remembered from its deadline on.
constexpr uint8_t kHasExpired = 0x80;

// More than a command can have made.
constexpr int64_t kMostSavedParts = 1'000'000;
constexpr int64_t kMostShares = 1'000;

// Where the varint at the front of eight bytes ends, in bits; 64 or less if it ends in them.
int EndOfVarint(uint64_t bytes) { return std::countr_zero(~bytes & 0x8080808080808080) + 1; }

// Reads a number of a record that is well formed. Most records have eight bytes more.
int64_t TakeNumber(std::string_view& in) {
  if (static_cast<uint8_t>(in.front()) < 0x80) {
    const auto byte = static_cast<int64_t>(in.front());
    in.remove_prefix(1);
    return byte;
  }
  uint64_t value = 0;
  if (in.size() >= sizeof value) [[likely]] {
    std::memcpy(&value, in.data(), sizeof value);
    const int bits = EndOfVarint(value);
    if (bits <= 64) [[likely]] {
      in.remove_prefix(static_cast<size_t>(bits / 8));
      return static_cast<int64_t>(JoinSevenBits(value & ~uint64_t{0} >> (64 - bits)));
    }
  }
  static_cast<void>(ReadVarint(in, value));
  return static_cast<int64_t>(value);
}
void SkipNumber(std::string_view& in) {
  size_t end = 0;
  while (static_cast<uint8_t>(in[end]) >= 0x80) ++end;
  in.remove_prefix(end + 1);
}
int64_t TakeSigned(std::string_view& in) {
  return ZigZagDecode(static_cast<uint64_t>(TakeNumber(in)));
}

bool HasPlainShares(const HoldRecord& record) {
  for (const HoldPart& part : record.parts) {
    for (const HoldShare& share : part.shares) {
      if (share.at_ms != part.at_ms || share.in_window != part.cost) return false;
    }
  }
  return true;
}

size_t SharesOf(const HoldRecord& record) {
  return record.parts.empty() ? 0 : record.parts.front().shares.size();
}

// Most tokens are near the instant at which the hold began.
int64_t TokenBase(const HoldRecord& record) {
  return record.parts.empty() ? record.until_ms : record.parts.front().at_ms;
}

char* WriteNumber(char* out, int64_t number) {
  return WriteVarint(out, static_cast<uint64_t>(number));
}
char* WriteSigned(char* out, int64_t number) { return WriteVarint(out, ZigZagEncode(number)); }

char* WritePart(char* out, const HoldPart& part, int64_t until_ms, bool plain) {
  out = WriteSigned(WriteNumber(out, part.cost), until_ms - part.at_ms);
  if (plain) return out;
  for (const HoldShare& share : part.shares) {
    out = WriteNumber(WriteSigned(out, share.at_ms - part.at_ms), share.in_window);
  }
  return out;
}

// At least as many bytes as the record is written in.
size_t MostBytes(const HoldRecord& record) {
  constexpr size_t kMostNumbers = 5;  // beside those of parts
  const size_t numbers = kMostNumbers + record.parts.size() * 2 * (1 + SharesOf(record));
  return 1 + numbers * kMaxVarintBytes + record.rules.size();
}

// Reads an instant, or a token, as its distance after `base`, or before it.
bool ReadSigned(std::string_view& in, int64_t base, int sign, int64_t& number) {
  uint64_t value = 0;
  if (!ReadVarint(in, value)) return false;
  const int64_t distance = ZigZagDecode(value);
  const bool bad = sign > 0 ? __builtin_add_overflow(base, distance, &number)
                            : __builtin_sub_overflow(base, distance, &number);
  return !bad && number >= 0 && number <= kMaxHoldEndMs;
}

bool ReadPart(std::string_view& in, int64_t until_ms, bool plain, size_t shares, HoldPart& part) {
  if (!ReadVarintUpTo(in, INT64_MAX, part.cost) || !ReadSigned(in, until_ms, -1, part.at_ms))
    return false;
  for (size_t i = 0; i < shares; ++i) {
    HoldShare& share = part.shares.emplace_back(HoldShare{part.at_ms, part.cost});
    if (plain) continue;
    if (!ReadSigned(in, part.at_ms, 1, share.at_ms) ||
        !ReadVarintUpTo(in, INT64_MAX, share.in_window))
      return false;
  }
  return true;
}

}  // namespace

HoldBytes::HoldBytes(const HoldRecord& record) {
  const bool held = record.state == HoldState::kHeld;
  const bool plain = HasPlainShares(record);
  const bool several = record.parts.size() != 1;
  uint8_t head = static_cast<uint8_t>(record.state);
  const bool same = !held && record.counted == record.held;
  if (record.counted > 0 && !same) head |= kHasCounted;
  if (same) head |= kCountedHeld;
  if (record.keys > 1) head |= kSeveralKeys;
  if (held && several) head |= kSeveralParts;
  if (held && plain) head |= kPlainShares;
  const size_t most = MostBytes(record);
  if (most > kFew) many_.reset(new char[most]);
  char* const begin = most > kFew ? many_.get() : few_;
  char* end = begin;
  *end++ = static_cast<char>(head);
  end = WriteNumber(end, held ? record.until_ms : record.until_ms / kForgetStepMs);
  if (record.keys > 1) end = WriteNumber(end, record.keys);
  if (record.counted > 0 && !same) end = WriteNumber(end, record.counted);
  if (!held) end = WriteNumber(end, record.held);
  if (held) {
    end = WriteNumber(end, static_cast<int64_t>(SharesOf(record)));
    if (several) end = WriteNumber(end, static_cast<int64_t>(record.parts.size()));
    for (const HoldPart& part : record.parts) end = WritePart(end, part, record.until_ms, plain);
    end = WriteSigned(end, record.token - TokenBase(record));
  }
  end = std::copy(record.rules.begin(), record.rules.end(), end);
  view_ = {begin, static_cast<size_t>(end - begin)};
}

namespace {

void ReadAsExpired(HoldRecord& record) {
  record.state = HoldState::kExpired;
  record.until_ms = RememberedUntil(record.until_ms);
  record.held = record.cost();
  record.token = 0;
  record.parts.clear();
}

// Reads a record but for its rules, which are left in `in`, as the record of what it was at first:
// it may have expired.
bool ReadBeforeRules(std::string_view& in, HoldRecord& record) {
  const auto head = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  record.state = static_cast<HoldState>(head & kStateMask);
  if (record.state == HoldState::kUnknown || record.state > HoldState::kCancelled) return false;
  if ((head & kHasExpired) != 0 && record.state != HoldState::kHeld) return false;
  const int64_t step_ms = record.state == HoldState::kHeld ? 1 : kForgetStepMs;
  if (!ReadVarintUpTo(in, kMaxHoldEndMs / step_ms, record.until_ms)) return false;
  record.until_ms *= step_ms;
  if ((head & kSeveralKeys) != 0 && !ReadVarintUpTo(in, INT64_MAX, record.keys)) return false;
  if ((head & kHasCounted) != 0 && !ReadVarintUpTo(in, INT64_MAX, record.counted)) return false;
  if (record.state != HoldState::kHeld) {
    if (!ReadVarintUpTo(in, INT64_MAX, record.held)) return false;
    if ((head & kCountedHeld) != 0) record.counted = record.held;
  } else {
    int64_t shares = 0;
    int64_t parts = 1;
    if (!ReadVarintUpTo(in, kMostShares, shares)) return false;
    if ((head & kSeveralParts) != 0 && !ReadVarintUpTo(in, kMostSavedParts, parts)) return false;
    if (parts == 0) return false;
    const bool plain = (head & kPlainShares) != 0;
    int64_t sum = 0;
    for (; parts > 0; --parts) {
      HoldPart& part = record.parts.emplace_back();
      if (!ReadPart(in, record.until_ms, plain, static_cast<size_t>(shares), part)) return false;
      if (__builtin_add_overflow(sum, part.cost, &sum)) return false;
    }
    if (!ReadSigned(in, TokenBase(record), 1, record.token)) return false;
    if (record.token > kMaxHoldToken) return false;
  }
  return true;
}

bool HasExpired(std::string_view in) {
  return (static_cast<uint8_t>(in.front()) & kHasExpired) != 0;
}

}  // namespace

bool ReadHoldRecord(std::string_view in, HoldRecord& record) {
  if (in.empty()) return false;
  const bool has_expired = HasExpired(in);
  if (!ReadBeforeRules(in, record)) return false;
  record.rules = in;
  if (!ReadHoldCounters(in, record.counters)) return false;
  if (!record.parts.empty() && SharesOf(record) != record.counters.keys.size()) return false;
  if (has_expired) ReadAsExpired(record);
  return true;
}

void ReadStoredHold(std::string_view in, HoldCountersReader& counters, HoldRecord& record) {
  const bool has_expired = HasExpired(in);
  Check(ReadBeforeRules(in, record), "a record of the table is well formed");
  record.rules = in;
  if (!in.empty()) record.counters = counters.Of(in);
  if (has_expired) ReadAsExpired(record);
}

bool IsHeld(std::string_view in) {
  const auto head = static_cast<uint8_t>(in.front());
  return (head & (kStateMask | kHasExpired)) == static_cast<uint8_t>(HoldState::kHeld);
}

int64_t UntilOf(std::string_view in) {
  const auto head = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  const int64_t until_ms = TakeNumber(in);
  if ((head & kStateMask) != static_cast<uint8_t>(HoldState::kHeld))
    return until_ms * kForgetStepMs;
  return (head & kHasExpired) == 0 ? until_ms : RememberedUntil(until_ms);
}

void Expire(char* record) { *record = static_cast<char>(*record | kHasExpired); }

HoldView::HoldView(std::string_view in, int64_t deadline_ms) : deadline_ms_(deadline_ms) {
  const auto head = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  SkipNumber(in);
  if ((head & kSeveralKeys) != 0) SkipNumber(in);
  if ((head & kHasCounted) != 0) SkipNumber(in);
  parts_.deadline_ms = deadline_ms_;
  parts_.plain = (head & kPlainShares) != 0;
  parts_.shares = static_cast<uint64_t>(TakeNumber(in));
  if ((head & kSeveralParts) != 0) parts_.parts = static_cast<uint64_t>(TakeNumber(in));
  is_simple_ = parts_.plain && parts_.parts == 1;
  if (is_simple_) [[likely]] {
    cost_ = TakeNumber(in);
    newest_at_ms_ = deadline_ms - TakeSigned(in);
    SkipNumber(in);  // the token
    rules_ = in;
    return;
  }
  parts_.in = in;
  PartReader rest = parts_;
  for (uint64_t part = 0; part < rest.parts; ++part) {
    rest.BeginPart();
    cost_ += rest.cost;
    newest_at_ms_ = rest.at_ms;
    for (uint64_t i = 0; !rest.plain && i < rest.shares; ++i) rest.Share();
  }
  SkipNumber(rest.in);  // the token
  rules_ = rest.in;
}

void HoldView::PartReader::BeginPart() {
  cost = TakeNumber(in);
  at_ms = deadline_ms - TakeSigned(in);
}

HoldShare HoldView::PartReader::Share() {
  if (plain) return {at_ms, cost};
  const int64_t share_at_ms = at_ms + TakeSigned(in);
  return {share_at_ms, TakeNumber(in)};
}

}  // namespace tally
