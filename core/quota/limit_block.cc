#include "core/quota/limit_block.h"

#include "core/time/duration.h"

namespace tally {
namespace {

constexpr int64_t kUnitMs[] = {1, 1000, 3'600'000, kDayMs};
constexpr int64_t kMostMs = std::numeric_limits<int64_t>::max();
constexpr uint64_t kMostUnits[] = {kMostMs / kUnitMs[0], kMostMs / kUnitMs[1], kMostMs / kUnitMs[2],
                                   kMostMs / kUnitMs[3]};

// The longest unit that divides the window.
uint32_t UnitOf(int64_t window_ms) {
  uint32_t unit = 3;
  while (window_ms % kUnitMs[unit] != 0) --unit;
  return unit;
}

bool ReadLimit(PackedInput& in, uint8_t head, LimitEntry& entry) {
  const uint64_t limit = in.Varint();
  const uint64_t units = in.Varint();
  const uint64_t set_at = in.Fixed((head >> 4 & 7) + 1u);
  if (in.failed() || limit > std::numeric_limits<int32_t>::max()) return false;
  const uint32_t unit = head >> 2 & 3;
  if (units == 0 || units > kMostUnits[unit]) return false;
  entry.limit = static_cast<int32_t>(limit);
  entry.window_ms = static_cast<int64_t>(units) * kUnitMs[unit];
  entry.set_at_ms = WrappingAdd(kTimeBaseMs, PackedDuration(set_at, head & 0x80));
  return true;
}

void AppendEntry(std::string& block, const LimitEntry& entry) {
  const PackedTime set_at(WrappingSub(entry.set_at_ms, kTimeBaseMs));
  const uint32_t unit = entry.is_set ? UnitOf(entry.window_ms) : 0;
  uint32_t head = (entry.is_set ? 0x01 : 0) | (entry.deletion ? 0x02 : 0);
  if (entry.is_set) {
    head |= unit << 2 | (set_at.bytes - 1) << 4 | (set_at.whole_seconds ? 0x80 : 0);
  }
  if (entry.action.is_text) block.push_back('\0');
  block.push_back(static_cast<char>(head));
  AppendSignedVarint(block, entry.action.value);
  if (entry.is_set) {
    AppendVarint(block, static_cast<uint64_t>(entry.limit));
    AppendVarint(block, static_cast<uint64_t>(entry.window_ms / kUnitMs[unit]));
    AppendPacked(block, set_at.zigzag, set_at.bytes);
  }
  if (entry.deletion) {
    AppendSignedVarint(block, WrappingSub(entry.deletion->deleted_ms, kTimeBaseMs));
    AppendSignedVarint(block, WrappingSub(entry.deletion->until_ms, entry.deletion->deleted_ms));
  }
}

}  // namespace

bool ReadLimitEntry(PackedInput& in, LimitEntry& entry) {
  uint8_t head = in.Byte();
  const bool is_text = head == 0;
  if (is_text) [[unlikely]]
    head = in.Byte();
  entry.action = BookId(ZigZagDecode(in.Varint()), is_text);
  entry.is_set = head & 0x01;
  entry.deletion.reset();
  if (entry.is_set && !ReadLimit(in, head, entry)) return false;
  if (head & 0x02) {
    const int64_t deleted_ms = WrappingAdd(kTimeBaseMs, ZigZagDecode(in.Varint()));
    entry.deletion = {deleted_ms, WrappingAdd(deleted_ms, ZigZagDecode(in.Varint()))};
  }
  return !in.failed();
}

bool DecodeLimits(std::string_view block, std::vector<LimitEntry>& entries) {
  entries.clear();
  for (PackedInput in(block); !in.empty();) {
    LimitEntry entry;
    if (!ReadLimitEntry(in, entry)) return false;
    if (!entry.is_set && !entry.deletion) return false;
    if (!entries.empty() && entry.action <= entries.back().action) return false;
    entries.push_back(entry);
  }
  return !entries.empty();
}

void EncodeLimits(std::span<const LimitEntry> entries, std::string& block) {
  block.clear();
  for (const LimitEntry& entry : entries) AppendEntry(block, entry);
}

}  // namespace tally
