// The past of an ActiveSet that changes while a snapshot of it is taken: a copy of the days as they
// were, and the old instants (and the id, if forgotten) of each number that changes before it is
// saved.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/active/active_days.h"
#include "core/bytes/run_sink.h"

namespace tally {

class ActiveSnapshot {
 public:
  struct Seen {
    int64_t last_ms = 0;
    int64_t first_ms = 0;
  };

  // Copies the days, one bit for each id and day: this takes milliseconds for millions of ids.
  ActiveSnapshot(const RunSink& sink_in, const ActiveDays& days_in, uint32_t last_number_in)
      : sink(sink_in),
        days(days_in),
        last_number(last_number_in),
        changed_(last_number / kChunkIds + 1) {}

  // Must be called before the instants of the number change, or before its id is forgotten; `seen`
  // are the instants before the change.
  void BeforeChange(uint32_t number, const Seen& seen);
  void BeforeForget(uint32_t number, std::string_view id, const Seen& seen);

  // The instants when the snapshot began; `now` if they have not changed since.
  Seen SeenOf(uint32_t number, const Seen& now) const;
  // Returns the id of a number that was forgotten since the snapshot began, otherwise null.
  const std::string* ForgottenId(uint32_t number) const;

  RunSink sink;
  ActiveDays days;
  uint32_t last_number;
  // The cursor at which ActiveSet::Save continues.
  uint64_t cursor = 0;
  uint32_t saved_number = 0;  // all numbers up to this one are saved

 private:
  static constexpr uint32_t kChunkIds = 256;
  struct Change {
    uint8_t place;
    Seen seen;
  };

  // A list for each chunk. The lists are short: few numbers of a chunk change before it is saved.
  std::vector<std::vector<Change>> changed_;
  absl::flat_hash_map<uint32_t, std::string> forgotten_;
};

}  // namespace tally
