// The bytes of a limit's counter, in a key's record and in its saved form.
//
// A counter with late hits begins with the byte 7 and their lateness in ms, a varint; then that of
// a rule in SHADOW has the byte 16. A counter is a head byte, the other fields of its key, and its
// numbers, which are varints:
//   head: bits 0-2 algorithm, or 7 if bits 4-7 + 8 are its number; the others by algorithm
//   all but CALENDAR: head bit 3 says that the period is in whole seconds
//   CALENDAR: head bits 3-5 unit, bit 6 weeks from Sunday on; CALENDAR, BASE: bit 7 zone present, 4
//   bytes. Unit 7: a byte with the unit and a varint with the code of its start follow
//   BASE: bit 4, the code of its day's start follows the period
//   FIXED: bit 4, where in the period its windows begin follows the period: LimitKey::start
// The key of each algorithm but CALENDAR goes on with the period, a varint. SLIDING has the bytes
// of a TimeLog in place of numbers. No algorithm has a head of 0, 7, 8 or 16.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes/varint.h"
#include "core/limit/limit_state.h"
#include "core/time/duration.h"

namespace tally {

inline constexpr char kLateHead = 7;

// Appends nothing if `late_ms` is 0.
inline void AppendLateness(std::string& out, int64_t late_ms) {
  if (late_ms == 0) [[likely]]
    return;
  out.push_back(kLateHead);
  AppendVarint(out, static_cast<uint64_t>(late_ms));
}
void AppendLimitKey(std::string& out, const LimitKey& key);
// Appends the key, and the numbers of an algorithm that uses them.
void AppendLimitCounter(std::string& out, const LimitKey& key, const LimitNumbers& numbers);

// These remove what they read from the front of `in`. They return false if the bytes are malformed;
// a part of the result may then be set. ReadLimitKey needs a default-constructed `key`.
[[nodiscard]] inline bool ReadLateness(std::string_view& in, int64_t& late_ms) {
  if (in.empty() || in.front() != kLateHead) [[likely]]
    return true;
  in.remove_prefix(1);
  uint64_t late = 0;
  if (!ReadVarint(in, late) || late > kMaxInstantMs) return false;
  late_ms = static_cast<int64_t>(late);
  return true;
}
[[nodiscard]] bool ReadLimitKey(std::string_view& in, LimitKey& key);
[[nodiscard]] bool ReadLimitNumbers(std::string_view& in, const LimitKey& key,
                                    LimitNumbers& numbers);

}  // namespace tally
