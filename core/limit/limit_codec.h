// The bytes that a limit's counter is kept and saved as.
//
// A counter is a head byte, the fields that say its key, and its numbers, all varints:
//   head: bits 0-2 algorithm; bits 3-7 by algorithm
//   FIXED, SLIDING, ROLLING, BUCKET, BASE: head bit 3 says that the period is in whole seconds
//   CALENDAR: head bits 3-5 unit, bit 6 week start; CALENDAR, BASE: bit 7 zone present, 4 bytes
// SLIDING has a TimeLog's bytes in place of numbers. A head of 0 is no algorithm's.
#pragma once

#include <string>
#include <string_view>

#include "core/limit/limit_state.h"

namespace tally {

void AppendLimitKey(std::string& out, const LimitKey& key);
void AppendLimitNumbers(std::string& out, const LimitKey& key, const LimitNumbers& numbers);

// These take what they read off the front of `in`. False, with part of the result set perhaps, if
// the bytes are malformed. `key` and `numbers` are as made before.
[[nodiscard]] bool ReadLimitKey(std::string_view& in, LimitKey& key);
[[nodiscard]] bool ReadLimitNumbers(std::string_view& in, const LimitKey& key,
                                    LimitNumbers& numbers);

}  // namespace tally
