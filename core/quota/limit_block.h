// All limits of one SKU in a quota book, packed in one string of bytes.
//
//   block := entry+, ascending by action
//   entry := [zero], head, varint(zigzag(action)), [limit], [deletion]
//     zero      a byte that no head is: the action is the number of a text
//     head      bit 0 `limit` follows; bit 1 `deletion` follows; bits 2-3 unit of the window
//               (ms, s, h, d); bits 4-6 bytes of the time of setting - 1; bit 7 it is in seconds
//   limit := varint(limit), varint(window in its unit), time of setting - kTimeBase (zigzag)
//   deletion := varint(zigzag(deleted_ms - kTimeBase)), varint(zigzag(until_ms - deleted_ms))
//
// A limit of 30 days takes about 10 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/quota/packed_integer.h"
#include "core/quota/quota_types.h"

namespace tally {

// That a limit was deleted once: what was recorded up to then never counts again for its action.
struct LimitDeletion {
  int64_t deleted_ms = 0;  // lines with recorded_ms <= deleted_ms do not count
  int64_t until_ms = 0;    // such a line has ts_ms <= until_ms; when those are gone, so is this
  friend bool operator==(const LimitDeletion&, const LimitDeletion&) = default;
};

// What is known of one (sku, action): a limit, an earlier deletion, or both.
struct LimitEntry {
  BookId action = kNoAction;
  bool is_set = false;
  int32_t limit = 0;  // this and the two below only where is_set
  int64_t window_ms = 0;
  int64_t set_at_ms = 0;
  std::optional<LimitDeletion> deletion;
  friend bool operator==(const LimitEntry&, const LimitEntry&) = default;
};

// Takes an entry off the front of `in`; false if malformed.
[[nodiscard]] bool ReadLimitEntry(PackedInput& in, LimitEntry& entry);

// Decodes a whole block, replacing `entries`. False, with `entries` in any state, if it is
// malformed, not ascending, or holds an entry that is neither set nor deleted.
[[nodiscard]] bool DecodeLimits(std::string_view block, std::vector<LimitEntry>& entries);

// Replaces `block`. The entries are ascending by action.
void EncodeLimits(const std::vector<LimitEntry>& entries, std::string& block);

}  // namespace tally
