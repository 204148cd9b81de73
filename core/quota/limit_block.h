// All limits of one SKU in a quota book, packed into one string of bytes.
//
//   block := entry+, ascending by action
//   entry := [zero], head, varint(zigzag(action)), [limit], [deletion]
//     zero      a zero byte, which no head is: the action is the number of a text
//     head      bit 0: `limit` follows; bit 1: `deletion` follows; bits 2-3: unit of the window
//               (ms, s, h, d); bits 4-6: bytes of the time of setting - 1; bit 7: it is in seconds
//   limit := varint(limit), varint(window in its unit), zigzag(time of setting - kTimeBase)
//   deletion := varint(zigzag(deleted_ms - kTimeBase)), varint(zigzag(until_ms - deleted_ms))
//
// A limit of 30 days takes about 10 bytes.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/quota/packed_integer.h"
#include "core/quota/quota_types.h"

namespace tally {

// A limit was deleted: purchases recorded up to then never count for this SKU and action again.
struct LimitDeletion {
  int64_t deleted_ms = 0;  // lines with recorded_ms <= deleted_ms do not count
  int64_t until_ms = 0;    // such lines have ts_ms <= until_ms; void once that is out of retention
  friend bool operator==(const LimitDeletion&, const LimitDeletion&) = default;
};

// What is known about one (sku, action): a limit, an earlier deletion, or both.
struct LimitEntry {
  BookId action = kNoAction;
  bool is_set = false;
  int32_t limit = 0;  // this and the next two are valid only if is_set
  int64_t window_ms = 0;
  int64_t set_at_ms = 0;
  std::optional<LimitDeletion> deletion;
  friend bool operator==(const LimitEntry&, const LimitEntry&) = default;
};

// Reads an entry from the front of `in`; returns false if it is malformed.
[[nodiscard]] bool ReadLimitEntry(PackedInput& in, LimitEntry& entry);

// Decodes a whole block into `entries`, which it replaces. Returns false if the block is empty,
// malformed or not ascending, or holds an entry without a limit and a deletion; `entries` may then
// hold anything.
[[nodiscard]] bool DecodeLimits(std::string_view block, std::vector<LimitEntry>& entries);

// The blocks of a SKU: one, or those of its parts (sku_parts.h), or none.
using LimitBlocks = absl::InlinedVector<std::string_view, 1>;

// Replaces `block`. The entries must be ascending by action.
void EncodeLimits(std::span<const LimitEntry> entries, std::string& block);

}  // namespace tally
