#include "core/engine/ahead_walk.h"

#include "core/active/active_set.h"
#include "core/engine/limit_states.h"
#include "core/engine/scratch.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limits_ahead.h"
#include "core/limit/reservation.h"

namespace tally {
namespace {

constexpr size_t kUsersAtOnce = 64;

bool HasInstants(const Keyspace& keyspace) {
  return keyspace.size_of(Type::kHits) + keyspace.size_of(Type::kLimit) +
             keyspace.size_of(Type::kActive) + keyspace.size_of(Type::kQuota) >
         0;
}

}  // namespace

void AheadWalk::Next(Engine& engine, int64_t now_ms, std::vector<Found>& found) {
  if (!books_.empty()) return NextUsers(engine, now_ms, found);
  if (database_ >= engine.databases()) {
    goes_on_ = false;
    return;
  }
  const Keyspace& keyspace = engine.database(database_);
  const Keyspace::Segment* segment =
      HasInstants(keyspace) ? keyspace.NextSegment(position_) : nullptr;
  if (segment == nullptr) {
    ++database_;
    position_ = 0;
    return;
  }
  keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) {
    if (!keyspace.HasExpired(entry, now_ms)) LookAt(engine, entry, now_ms, found);
  });
}

void AheadWalk::LookAt(Engine& engine, const Keyspace::Entry& entry, int64_t now_ms,
                       std::vector<Found>& found) {
  Found one{.database = database_, .type = entry.type()};
  switch (entry.type()) {
    case Type::kHits: {
      CompactValue<Hits> hits(engine.scratch().hits);
      hits.Take(entry);
      if (!hits->IsAhead(now_ms)) return;
      one.window_ms = hits->window_ms();
      break;
    }
    case Type::kLimit: {
      CompactValue<LimitState> state(ScratchLimit({engine, database_, now_ms}, 0));
      state.Take(entry);
      if (!IsAhead(*state, now_ms)) return;
      one.rules = RulesAhead(*state, engine.zones(), now_ms);
      // Where only counters of unknown zones are ahead, nothing can be done.
      if (one.rules.empty() && !HasEndedHolds(*state, now_ms)) return;
      break;
    }
    case Type::kActive:
      if (!entry.heap<ActiveSet>().IsAhead(now_ms)) return;
      break;
    case Type::kQuota:
      if (entry.heap<QuotaBook>().MayBeAhead(now_ms)) books_.emplace_back(entry.key());
      return;
    default:
      return;
  }
  one.key = entry.key();
  found.push_back(std::move(one));
}

void AheadWalk::NextUsers(Engine& engine, int64_t now_ms, std::vector<Found>& found) {
  const Keyspace& keyspace = engine.database(database_);
  const Keyspace::Entry entry = keyspace.Peek(books_.back(), now_ms);
  std::vector<std::string> users;
  const bool more = entry && entry.type() == Type::kQuota &&
                    entry.heap<QuotaBook>().NextAhead(users_, now_ms, kUsersAtOnce, users);
  for (std::string& user : users) {
    found.push_back({.database = database_,
                     .key = books_.back(),
                     .type = Type::kQuota,
                     .rules = {},
                     .user = std::move(user)});
  }
  if (more) return;
  books_.pop_back();
  users_ = {};
}

}  // namespace tally
