// What a QuotaBook does with purchases after now: the clock was set back.
#include <algorithm>

#include "core/quota/quota_book.h"

namespace tally {
namespace {

bool IsAhead(const PurchaseLine& line, int64_t now_ms) {
  return std::max(line.ts_ms, line.held_at_ms) > now_ms;
}

}  // namespace

// A hold keeps its length. A purchase gets a new stamp: it is not one of those that were gone by
// the time when the retention grew. What deletions have excluded it from until now stays excluded.
void QuotaBook::SetBackLine(PurchaseLine& line, int64_t now_ms) {
  line.held_at_ms = std::min(line.held_at_ms, now_ms);
  if (line.ts_ms <= now_ms) return;
  for (const Deletion& one : DeletionsOf(line.sku)) {
    if (line.recorded_ms > one.deleted_ms) continue;
    if (one.action == kNoAction) line.resets |= kResetInTotal;
    if (one.action == line.action && line.action != kNoAction) line.resets |= kResetInAction;
  }
  line.ts_ms = now_ms;
  line.recorded_ms = recording_.Stamp(now_ms, now_ms);
}

bool QuotaBook::SetBack(const QuotaId& user, int64_t now_ms) {
  const EntityKey key(user);
  if (LargeUser* large = OpenLarge(key.view())) {
    return SetBackLarge(key.view(), *large, now_ms);
  }
  OpenUser open = Open(user, now_ms);
  bool changed = false;
  for (PurchaseLine& line : open.purchases.lines) {
    changed |= IsAhead(line, now_ms);
    SetBackLine(line, now_ms);
  }
  if (changed) Store(open);
  return changed;
}

bool QuotaBook::SetBackLarge(std::string_view key, LargeUser& user, int64_t now_ms) {
  if (user.latest_ms <= now_ms) return false;
  user.latest_ms = now_ms;
  std::vector<uint32_t> numbers;
  for (const auto& [number, earliest_ms] : user.chunks) numbers.push_back(number);
  for (const uint32_t number : numbers) {
    OpenChunk chunk = large_->Read(key, number);
    bool changed = false;
    for (PurchaseLine& line : chunk.purchases.lines) {
      if (!IsAhead(line, now_ms)) continue;
      user.TakeFromSums(line);
      SetBackLine(line, now_ms);
      user.AddToSums(line);
      changed = true;
    }
    if (changed) PutChunks(key, user, {&chunk, 1});
  }
  return true;
}

bool QuotaBook::NextAhead(AheadCursor& cursor, int64_t now_ms, size_t count,
                          std::vector<std::string>& users) const {
  if (!MayBeAhead(now_ms)) return false;
  if (!cursor.is_large) {
    cursor.position = users_.Scan(cursor.position, count, [&](const RecordTable::Record& record) {
      for (PurchaseReader reader(record.payload()); reader.Next();) {
        if (!IsAhead(reader.line(), now_ms)) continue;
        users.push_back(TextOf(EntityKey::UserOf(record.key())));
        break;
      }
    });
    cursor.is_large = cursor.position == 0;
    return !cursor.is_large || large_ != nullptr;
  }
  if (large_ == nullptr) return false;
  auto next = large_->users.lower_bound(cursor.large_from);
  for (; next != large_->users.end() && count > 0; ++next, --count) {
    IndexLarge(next->first, *next->second);
    if (next->second->latest_ms > now_ms) users.push_back(TextOf(EntityKey::UserOf(next->first)));
  }
  if (next != large_->users.end()) cursor.large_from = next->first;
  return next != large_->users.end();
}

}  // namespace tally
