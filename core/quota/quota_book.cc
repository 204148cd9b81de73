#include "core/quota/quota_book.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/check.h"
#include "core/base/saturating.h"
#include "core/quota/order_lines.h"

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

void QuotaBook::LeaveDistinct(Ids& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

QuotaBook::QuotaBook(uint64_t seed, int64_t min_retention_ms)
    : limits_(seed), users_(seed), retention_(min_retention_ms), seed_(seed) {
  Check(min_retention_ms > 0, "retention is positive");
}

void QuotaBook::Fetch(std::span<const uint64_t> users, std::span<const uint64_t> skus) const {
  for (const uint64_t hash : users) users_.PrefetchSegment(hash);
  for (const uint64_t hash : skus) limits_.PrefetchSegment(hash);
  for (const uint64_t hash : users) users_.PrefetchIndex(hash);
  for (const uint64_t hash : skus) limits_.PrefetchIndex(hash);
  for (const uint64_t hash : users) users_.PrefetchRecord(hash);
  for (const uint64_t hash : skus) limits_.PrefetchRecord(hash);
}

QuotaBook::Places QuotaBook::Approach(const QuotaId& user, const Ids& skus, bool prefetched) const {
  Places places;
  places.user = users_.Hash(EntityKey(user).view());
  for (const BookId sku : skus) places.skus.push_back(limits_.Hash(EntityKey(sku).view()));
  if (!prefetched) Fetch({&places.user, 1}, places.skus);
  return places;
}

void QuotaBook::Prefetch(std::span<const QuotaId> users, std::span<const QuotaId> skus) const {
  using Hashes = std::array<uint64_t, kMaxPrefetch>;
  Check(users.size() <= kMaxPrefetch && skus.size() <= kMaxPrefetch, "few are fetched at a time");
  Hashes of_users;
  Hashes of_skus;
  for (size_t i = 0; i < users.size(); ++i) of_users[i] = users_.Hash(EntityKey(users[i]).view());
  for (size_t i = 0; i < skus.size(); ++i) {
    of_skus[i] = limits_.Hash(EntityKey(Find(skus[i])).view());
  }
  Fetch({of_users.data(), users.size()}, {of_skus.data(), skus.size()});
}

QuotaBook::OpenUser QuotaBook::Open(const QuotaId& user, uint64_t hash, int64_t now_ms) const {
  OpenUser open{EntityKey(user), {}, 0, {}, {}, {}, {}};
  open.record = users_.Find(open.key.view(), hash);
  if (!open.record) return open;
  Check(DecodePurchases(open.record.payload(), open.purchases), "a stored user is well-formed");
  open.stored_lines = open.purchases.lines.size();
  open.uses.Add(open.purchases, -1);
  DropGone(open.purchases, retention_, now_ms);
  return open;
}

QuotaBook::OpenUser QuotaBook::Open(const QuotaId& user, int64_t now_ms) const {
  return Open(user, users_.Hash(EntityKey(user).view()), now_ms);
}

// A large block that grows is inserted anew, because only insertions split a segment that is full.
RecordTable::Record QuotaBook::Replace(RecordTable& table, const RecordTable::Record& old,
                                       std::string_view key, uint64_t hash, size_t size) {
  constexpr size_t kLarge = size_t{4} << 10;
  if (!old) return table.Insert(key, hash, size);
  if (size <= kLarge || size <= old.size()) return table.Resize(old, size);
  table.Erase(old);
  return table.Insert(key, hash, size);
}

void QuotaBook::Store(OpenUser& user) {
  const std::vector<PurchaseLine>& lines = user.purchases.lines;
  user.uses.Add(user.purchases, 1);
  ChangeUses(user.uses);
  if (lines.size() + user.purchases.returns.size() > LargeUser::kManyLines) return MakeLarge(user);
  purchase_count_ += lines.size();
  purchase_count_ -= user.stored_lines;
  const std::string_view key = user.key.view();
  const uint64_t hash = users_.Hash(key);
  BeforeChange(users_, hash, key);
  if (lines.empty()) {
    if (user.record) users_.Erase(user.record);
    return;
  }
  std::string block;
  EncodePurchases(user.purchases, block);
  const RecordTable::Record record = Replace(users_, user.record, key, hash, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  int64_t& due = record.segment().due;
  for (const PurchaseLine& line : lines) due = std::min(due, retention_.DueOf(line));
}

void QuotaBook::AddSkus(const Ids& skus, const Places& places, const BookActions& actions,
                        LeftCounters& counters) const {
  for (size_t i = 0; i < skus.size(); ++i) {
    if (counters.Knows(skus[i])) continue;
    counters.AddSku(skus[i], BlocksOf(EntityKey(skus[i]), places.skus[i]), actions);
  }
}

void QuotaBook::NameTexts(std::span<const QuotaItem> items, std::vector<PurchaseLine>& lines) {
  PurchaseLine* line = lines.data() + (lines.size() - items.size());
  for (const QuotaItem& item : items) {
    line->sku = FindOrAdd(item.sku);
    line->action = FindOrAdd(item.action);
    ++line;
  }
}

QuotaBook::BuyResult QuotaBook::Buy(const QuotaOrder& order, int64_t now_ms, QuotaLefts& left) {
  BuyResult result;
  if (MayBeAhead(now_ms)) [[unlikely]]
    result.set_back = SetBack(order.user, now_ms);
  Ids skus(order.items.size());
  for (size_t i = 0; i < skus.size(); ++i) skus[i] = Find(order.items[i].sku);
  LeaveDistinct(skus);
  const Places places = Approach(order.user, skus);
  LargeUser* const large = OpenLarge(EntityKey(order.user).view());
  OpenUser user = Open(order.user, places.user, now_ms);
  LeftCounters counters(now_ms);
  const bool is_counted = order.if_left || order.is_answered;
  if (is_counted) AddSkus(skus, places, BookActions(), counters);

  bool known = false;
  for (const PurchaseLine& line : user.purchases.lines) {
    if (is_counted) counters.Count(line);
    known |= line.order == order.order;
  }
  if (large != nullptr) {
    if (is_counted) CountLarge(user.key.view(), *large, now_ms, counters);
    known = order.once && LargeKnows(user.key.view(), *large, order.order, retention_.At(now_ms));
  }

  if (!order.once || !known) {
    const int64_t ts_ms = std::min(order.ts_ms, now_ms);
    const bool in_retention = ts_ms > retention_.Horizon(now_ms);
    RecordingOrder recording = recording_;
    const int64_t stamp = in_retention ? recording.Stamp(ts_ms, now_ms) : now_ms;
    const int64_t held_at_ms = order.hold_ms > 0 ? now_ms : 0;
    if (order.hold_ms > 0) recording.NoteHold(held_at_ms);
    any_holds_ |= order.hold_ms > 0;
    for (size_t i = 0; i < order.items.size(); ++i) {
      const QuotaItem& item = order.items[i];
      Check(item.qty >= 0, "a quantity is not negative");
      const PurchaseLine line{order.order, Find(item.sku), Find(item.action), ts_ms,        stamp,
                              item.qty,    kNotReset,      held_at_ms,        order.hold_ms};
      if (!counters.Try(line) && order.if_left && result.item == 0) result.item = i + 1;
      if (in_retention) user.purchases.lines.push_back(line);
    }
    result.applied = result.item == 0;
    result.recorded = result.applied && in_retention && !order.items.empty();
    if (result.recorded) {
      recording_ = recording;
      Record(order, user, large, now_ms);
    } else {
      counters.GiveUp();
    }
  }
  left.Clear();
  if (!order.is_answered) return result;
  for (const QuotaItem& item : order.items) {
    counters.AppendLeft(Find(item.sku), item.sku, texts_.get(), left);
  }
  return result;
}

void QuotaBook::Record(const QuotaOrder& order, OpenUser& user, LargeUser* large, int64_t now_ms) {
  NameTexts(order.items, user.purchases.lines);
  if (large == nullptr) return Store(user);
  const std::string_view key = user.key.view();
  if (large->marks > 0) DropOrder(key, *large, order.order, retention_.At(now_ms));
  AppendToLarge(key, *large, user.purchases.lines);
  ExpireLarge(key, *large, now_ms);
}

bool QuotaBook::Return(const QuotaReturn& request, int64_t now_ms, std::vector<int32_t>& credited) {
  credited.assign(request.items.size(), 0);
  LargeUser* const large = OpenLarge(EntityKey(request.user).view());
  OpenUser user = large == nullptr ? Open(request.user, now_ms)
                                   : OpenOrder(request.user, *large, request.order, now_ms);
  OrderLines order(user.purchases.lines, request.order);
  if (order.empty()) return false;

  absl::flat_hash_set<BookId> seen;  // SKUs with a remembered return of this order and ts_ms
  for (const ReturnMark& mark : user.purchases.returns) {
    if (mark.order == request.order && mark.ts_ms == request.ts_ms) seen.insert(mark.sku);
  }
  const auto is_seen = [&](BookId sku) {
    if (large == nullptr) return seen.contains(sku);
    return LargeHasMark(user.key.view(), *large, {request.order, sku, request.ts_ms});
  };
  absl::flat_hash_set<BookId> now_seen;
  for (size_t i = 0; i < request.items.size(); ++i) {
    const QuotaReturnItem& item = request.items[i];
    Check(item.qty >= 0, "a quantity is not negative");
    const BookId sku = Find(item.sku);
    if (request.once && is_seen(sku)) continue;
    credited[i] = order.Credit(sku, item.qty);
    if (credited[i] == 0 || is_seen(sku)) continue;
    if (!now_seen.insert(sku).second) continue;
    user.purchases.returns.push_back({request.order, sku, request.ts_ms});
  }
  if (std::all_of(credited.begin(), credited.end(), [](int32_t qty) { return qty == 0; })) {
    return false;
  }
  if (large == nullptr) {
    Store(user);
  } else {
    StoreOrder(user, *large);
    ExpireLarge(user.key.view(), *large, now_ms);
  }
  return true;
}

QuotaBook::ConfirmResult QuotaBook::Confirm(const QuotaId& user_id, const QuotaId& order,
                                            int64_t now_ms) {
  LargeUser* const large = OpenLarge(EntityKey(user_id).view());
  OpenUser user =
      large == nullptr ? Open(user_id, now_ms) : OpenOrder(user_id, *large, order, now_ms);
  ConfirmResult result;
  for (PurchaseLine& line : user.purchases.lines) {
    if (line.order != order) continue;
    result.bought |= line.qty > 0;
    result.changed |= line.is_held();
    line.held_at_ms = 0;
    line.hold_ms = 0;
  }
  // What was all returned is cancelled, and stays so.
  result.changed &= result.bought;
  if (!result.changed) return result;
  if (large == nullptr) {
    Store(user);
  } else {
    StoreOrder(user, *large);
    ExpireLarge(user.key.view(), *large, now_ms);
  }
  return result;
}

void QuotaBook::Left(const QuotaId& user, std::span<const QuotaId> skus, int64_t at_ms,
                     int64_t now_ms, QuotaLefts& left, bool prefetched) const {
  LeftCounters counters(at_ms);
  Ids wanted(skus.size());
  for (size_t i = 0; i < skus.size(); ++i) wanted[i] = Find(skus[i]);
  if (wanted.size() > LeftCounters::kFewSkus) LeaveDistinct(wanted);
  const Places places = Approach(user, wanted, prefetched);
  const RecordTable::Record record = users_.Find(EntityKey(user).view(), places.user);
  if (record) record.PrefetchPayload();
  AddSkus(wanted, places, BookActions(), counters);
  if (record) {
    const Retention::Moment at = retention_.At(now_ms);
    for (PurchaseReader reader(record.payload()); reader.Next();) {
      if (retention_.Keeps(reader.line(), at)) counters.Count(reader.line());
    }
  } else if (large_ != nullptr) {
    const EntityKey key(user);
    if (LargeUser* large = FindLarge(key.view())) CountLarge(key.view(), *large, now_ms, counters);
  }
  left.Clear();
  for (const QuotaId& sku : skus) counters.AppendLeft(Find(sku), sku, texts_.get(), left);
}

uint8_t QuotaBook::ResetsOf(const PurchaseLine& line, const BookActions& actions) {
  const bool in_action = line.action != kNoAction && actions.Contains(line.action);
  return (actions.Contains(kNoAction) ? kResetInTotal : 0) | (in_action ? kResetInAction : 0);
}

bool QuotaBook::ResetOne(const QuotaId& user, const BookActions& actions, int64_t now_ms) {
  const EntityKey key(user);
  if (LargeUser* large = OpenLarge(key.view())) {
    return ResetLarge(key.view(), *large, actions, retention_.At(now_ms));
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
    line.resets |= ResetsOf(line, actions);
    changed |= line.resets != before;
  }
  if (changed) Store(open);
  return changed;
}

size_t QuotaBook::Reset(std::span<const QuotaId> users, const QuotaActions& actions,
                        int64_t now_ms) {
  const BookActions listed = Find(actions);
  absl::flat_hash_set<QuotaId> known;  // a second reset of a user changes nothing
  size_t reset = 0;
  for (const QuotaId& user : users) {
    if (known.insert(user).second && ResetOne(user, listed, now_ms)) ++reset;
  }
  return reset;
}

void QuotaBook::SettleRetention(int64_t old_length_ms, int64_t now_ms) {
  // If there are no purchases, none can be gone.
  if (HasPurchases()) retention_.Settle(old_length_ms, now_ms, recording_);
  const int64_t growth_ms = SaturatingSub(retention_.length_ms(), old_length_ms);
  if (!any_holds_ || growth_ms <= 0) return;
  // A hold is due at an instant that the retention does not move.
  uint64_t position = 0;
  while (RecordTable::Segment* segment = users_.NextSegment(position)) {
    if (segment->due == RecordTable::Segment::kNothingDue) continue;
    segment->due = SaturatingSub(segment->due, growth_ms);
  }
}

void QuotaBook::SetMinRetention(int64_t min_retention_ms, int64_t now_ms) {
  Check(min_retention_ms > 0, "retention is positive");
  const int64_t old_length_ms = retention_.length_ms();
  retention_.set_minimum_ms(min_retention_ms);
  SettleRetention(old_length_ms, now_ms);
}

}  // namespace tally
