// Finds what lies after the clock, because the clock was set back since.
//
// Whoever reads it reads it as of now, and whoever writes it makes it so. But what nobody writes
// would be read as of now again and again, until the clock shows its instant. So a host walks over
// the keys after its clock was set back, and after a start, and sets back what it finds. That is an
// effect, as any other change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "core/limit/limit_rule.h"
#include "core/quota/quota_book.h"

namespace tally {

class AheadWalk {
 public:
  // A key in which something lies after now.
  struct Found {
    size_t database = 0;
    std::string key = {};
    Type type = Type::kHits;
    int64_t window_ms = 0;              // HITS: the key's
    std::vector<LimitRule> rules = {};  // LIMIT: see RulesAhead
    std::string user = {};              // QUOTA: one who has purchases after now
  };

  // Begins at the first key, also if the walk is under way.
  void Begin() { *this = AheadWalk(true); }
  bool goes_on() const { return goes_on_; }
  // Looks at the keys of the next segment, or at the next users of a book that was found. Appends
  // what lies after `now_ms`. Nothing when the walk has ended.
  void Next(Engine& engine, int64_t now_ms, std::vector<Found>& found);

  AheadWalk() = default;

 private:
  explicit AheadWalk(bool goes_on) : goes_on_(goes_on) {}

  void LookAt(Engine& engine, const Keyspace::Entry& entry, int64_t now_ms,
              std::vector<Found>& found);
  void NextUsers(Engine& engine, int64_t now_ms, std::vector<Found>& found);

  bool goes_on_ = false;
  size_t database_ = 0;
  uint64_t position_ = 0;
  std::vector<std::string> books_;  // of the last segment, whose users are still to be looked at
  QuotaBook::AheadCursor users_;    // in the last of them
};

}  // namespace tally
