// What an ActiveSet keeps of its past while a snapshot of it is taken and it goes on changing: the
// days as they were, and what was known of the ids that have changed before they were saved.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/active/active_days.h"

namespace tally {

class ActiveSnapshot {
 public:
  using RunSink = std::function<void(std::string_view run)>;
  struct Seen {
    int64_t last = 0;
    int64_t first = 0;
  };

  // The days are copied, a bit for each id and day: milliseconds for millions of ids.
  ActiveSnapshot(const RunSink& sink_in, const ActiveDays& days_in, uint32_t last_number_in)
      : sink(sink_in),
        days(days_in),
        last_number(last_number_in),
        changed_(last_number / kChunkIds + 1) {}

  // To be called before what is known of the number changes, or its id is forgotten.
  void BeforeChange(uint32_t number, const Seen& seen);
  void BeforeForget(uint32_t number, std::string_view id, const Seen& seen);

  // As it was; `now` if it has not changed.
  Seen SeenOf(uint32_t number, const Seen& now) const;
  // Null if it has not been forgotten since.
  const std::string* ForgottenId(uint32_t number) const;

  RunSink sink;
  ActiveDays days;
  uint32_t last_number;
  // Where ActiveSet::Save goes on.
  uint64_t cursor = 0;
  uint32_t saved_number = 0;  // the last of which all is saved

 private:
  static constexpr uint32_t kChunkIds = 256;
  struct Change {
    uint8_t place;
    Seen seen;
  };

  // By chunk, each short: few of a chunk change before it is saved.
  std::vector<std::vector<Change>> changed_;
  absl::flat_hash_map<uint32_t, std::string> forgotten_;
};

}  // namespace tally
