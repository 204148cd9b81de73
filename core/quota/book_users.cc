#include "core/quota/book_users.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/base/saturating.h"
#include "core/quota/large_expiry.h"
#include "core/quota/large_purchases.h"
#include "core/quota/line_set_back.h"

namespace tally {
namespace {

// Removes the lines that are gone, and the returns of orders that have no line left: if such an
// order id comes again, it is another order.
void DropGone(UserPurchases& user, const Retention& retention, int64_t now_ms) {
  const Retention::Moment at = retention.At(now_ms);
  const size_t gone = std::erase_if(
      user.lines, [&](const PurchaseLine& line) { return !retention.Keeps(line, at); });
  if (gone == 0 || user.returns.empty()) return;
  absl::flat_hash_set<QuotaId> orders;
  for (const PurchaseLine& line : user.lines) orders.insert(line.order);
  std::erase_if(user.returns, [&](const ReturnMark& mark) { return !orders.contains(mark.order); });
}

}  // namespace

OpenUser BookUsers::Open(const QuotaId& user, uint64_t hash, int64_t now_ms) const {
  OpenUser open{.key = EntityKey(user)};
  open.record = book_.users.Find(open.key.view(), hash);
  if (!open.record) return open;
  Check(DecodePurchases(open.record.payload(), open.purchases), "a stored user is well-formed");
  open.stored_lines = open.purchases.lines.size();
  open.uses.Add(open.purchases, -1);
  DropGone(open.purchases, book_.retention, now_ms);
  return open;
}

OpenUser BookUsers::Open(const QuotaId& user, int64_t now_ms) const {
  return Open(user, book_.users.Hash(EntityKey(user).view()), now_ms);
}

void BookUsers::Store(OpenUser& user) {
  const std::vector<PurchaseLine>& lines = user.purchases.lines;
  user.uses.Add(user.purchases, 1);
  book_.ChangeUses(user.uses);
  if (lines.size() + user.purchases.returns.size() > LargeUser::kManyLines)
    return LargePurchases(book_).Make(user);
  book_.purchase_count += lines.size();
  book_.purchase_count -= user.stored_lines;
  const std::string_view key = user.key.view();
  if (lines.empty()) return book_.Erase(book_.users, key);
  std::string block;
  EncodePurchases(user.purchases, block);
  const uint64_t hash = book_.users.Hash(key);
  const RecordTable::Record record = book_.Put(book_.users, user.record, key, hash, block);
  int64_t& due_ms = record.segment().due_ms;
  for (const PurchaseLine& line : lines) due_ms = std::min(due_ms, book_.retention.DueOf(line));
}

OpenUser BookUsers::OpenOrder(const QuotaId& user, const QuotaId& order, int64_t now_ms) const {
  LargeUser* const large = LargeStore(book_).Open(EntityKey(user).view());
  if (large == nullptr) return Open(user, now_ms);
  return LargePurchases(book_).OpenOrder(user, *large, order, now_ms);
}

void BookUsers::StoreOrder(OpenUser& user, int64_t now_ms) {
  if (user.large == nullptr) return Store(user);
  LargePurchases(book_).StoreOrder(user);
  LargeExpiry(book_).Expire(user.key.view(), *user.large, now_ms);
}

bool BookUsers::HasTooMany(std::span<const QuotaId> users) const {
  if (book_.large == nullptr) return false;
  absl::flat_hash_map<QuotaId, size_t> large;
  for (const QuotaId& user : users) {
    const LargeUser* found = book_.FindLarge(EntityKey(user).view());
    if (found != nullptr) large[user] = found->lines;
  }
  size_t lines = 0;
  for (const auto& [user, count] : large) lines += count;
  return large.size() > 1 && lines > kMaxQuotaAnswer;
}

bool BookUsers::Expire(const QuotaId& user, int64_t now_ms) {
  const EntityKey key(user);
  if (LargeUser* large = book_.FindLarge(key.view()))
    return LargeExpiry(book_).Expire(key.view(), *large, now_ms);
  OpenUser open = Open(user, now_ms);
  if (open.purchases.lines.size() == open.stored_lines) return false;
  Store(open);
  return true;
}

bool BookUsers::Reset(const QuotaId& user, const BookActions& actions, int64_t now_ms) {
  const EntityKey key(user);
  if (LargeUser* large = LargeStore(book_).Open(key.view())) {
    return LargePurchases(book_).Reset(key.view(), *large, actions, book_.retention.At(now_ms));
  }
  OpenUser open = Open(user, now_ms);
  // Where nothing is kept any more nothing is changed: who only hears of changes must be left with
  // the same, for a clock that is set back.
  if (open.purchases.lines.empty()) return false;
  if (actions.all()) {
    open.purchases.Clear();
    Store(open);
    return true;
  }
  bool changed = false;
  for (PurchaseLine& line : open.purchases.lines) {
    const uint8_t before = line.resets;
    line.resets |= actions.ResetsOf(line);
    changed |= line.resets != before;
  }
  if (changed) Store(open);
  return changed;
}

bool BookUsers::SetBack(const QuotaId& user, int64_t now_ms) {
  const EntityKey key(user);
  if (LargeUser* large = LargeStore(book_).Open(key.view())) {
    return LargePurchases(book_).SetBack(key.view(), *large, now_ms);
  }
  OpenUser open = Open(user, now_ms);
  bool changed = false;
  for (PurchaseLine& line : open.purchases.lines) {
    changed |= IsAhead(line, now_ms);
    SetLineBack(book_, line, now_ms);
  }
  if (changed) Store(open);
  return changed;
}

void BookUsers::SettleRetention(int64_t old_length_ms, int64_t now_ms) {
  // If there are no purchases, none can be gone.
  if (book_.HasPurchases()) book_.retention.Settle(old_length_ms, now_ms, book_.recording);
  const int64_t growth_ms = SaturatingSub(book_.retention.length_ms(), old_length_ms);
  if (!book_.any_holds || growth_ms <= 0) return;
  // A hold is due at an instant that the retention does not move.
  uint64_t position = 0;
  while (RecordTable::Segment* segment = book_.users.NextSegment(position)) {
    if (segment->due_ms == RecordTable::Segment::kNothingDue) continue;
    segment->due_ms = SaturatingSub(segment->due_ms, growth_ms);
  }
}

void BookUsers::Sweep(RecordTable::Segment& segment, int64_t now_ms, QuotaExpired* expired) {
  const Retention::Moment at = book_.retention.At(now_ms);
  std::vector<std::string> users;  // keys
  segment.due_ms = RecordTable::Segment::kNothingDue;
  book_.users.ForEach(segment, [&](const RecordTable::Record& record) {
    bool some_gone = false;
    for (PurchaseReader reader(record.payload()); reader.Next();) {
      if (book_.retention.Keeps(reader.line(), at)) {
        segment.due_ms = std::min(segment.due_ms, book_.retention.DueOf(reader.line()));
      } else {
        some_gone = true;
      }
    }
    if (some_gone) users.emplace_back(record.key());
  });
  for (const std::string& key : users) {
    const QuotaId user = EntityKey::UserOf(key);
    Expire(user, now_ms);
    if (expired != nullptr) expired->users.push_back(TextOf(user));
  }
}

bool BookUsers::NextAhead(AheadCursor& cursor, int64_t now_ms, size_t count,
                          std::vector<std::string>& users) const {
  if (book_.recording.LatestInstant() <= now_ms) return false;
  if (!cursor.is_large) {
    cursor.position =
        book_.users.Scan(cursor.position, count, [&](const RecordTable::Record& record) {
          for (PurchaseReader reader(record.payload()); reader.Next();) {
            if (!IsAhead(reader.line(), now_ms)) continue;
            users.push_back(TextOf(EntityKey::UserOf(record.key())));
            break;
          }
        });
    cursor.is_large = cursor.position == 0;
    return !cursor.is_large || book_.large != nullptr;
  }
  if (book_.large == nullptr) return false;
  auto next = book_.large->users.lower_bound(cursor.large_from);
  for (; next != book_.large->users.end() && count > 0; ++next, --count) {
    LargeStore(book_).Index(next->first, *next->second);
    if (next->second->latest_ms > now_ms) users.push_back(TextOf(EntityKey::UserOf(next->first)));
  }
  if (next != book_.large->users.end()) cursor.large_from = next->first;
  return next != book_.large->users.end();
}

}  // namespace tally
