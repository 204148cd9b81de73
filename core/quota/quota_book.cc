#include "core/quota/quota_book.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/quota/book_answers.h"
#include "core/quota/book_header.h"
#include "core/quota/book_limits.h"
#include "core/quota/book_loader.h"
#include "core/quota/large_expiry.h"
#include "core/quota/large_purchases.h"
#include "core/quota/order_lines.h"

namespace tally {

QuotaBook::QuotaBook(uint64_t seed, int64_t min_retention_ms)
    : data_(std::make_unique<BookData>(seed, min_retention_ms)) {
  Check(min_retention_ms > 0, "retention is positive");
}

void QuotaBook::SetLimits(std::span<const QuotaLimitSpec> specs, int64_t now_ms) {
  const int64_t old_length_ms = data_->retention.length_ms();
  BookLimits(*data_).Set(specs, now_ms);
  BookUsers(*data_).SettleRetention(old_length_ms, now_ms);
}

void QuotaBook::AppendLimits(const QuotaId& sku, const BookActions& actions,
                             std::vector<QuotaLimit>& limits) const {
  BookLimits(*data_).AppendTo(limits, data_->Find(sku), actions);
}

bool QuotaBook::HasTooManyLimits(std::span<const QuotaId> skus) const {
  return BookLimits(*data_).HasTooMany(skus);
}
bool QuotaBook::HasTooManyLimits(std::span<const QuotaItem> items) const {
  return BookLimits(*data_).HasTooMany(items);
}
bool QuotaBook::HasTooManyLimits(std::span<const QuotaLimitSpec> specs) const {
  return BookLimits(*data_).HasTooMany(specs);
}
bool QuotaBook::HasTooManyPurchases(std::span<const QuotaId> users) const {
  return BookUsers(*data_).HasTooMany(users);
}

size_t QuotaBook::DelLimits(std::span<const QuotaId> skus, const QuotaActions& actions,
                            int64_t now_ms) {
  return BookLimits(*data_).Delete(skus, actions, now_ms);
}

void QuotaBook::NameTexts(std::span<const QuotaItem> items, std::vector<PurchaseLine>& lines) {
  PurchaseLine* line = lines.data() + (lines.size() - items.size());
  for (const QuotaItem& item : items) {
    line->sku = data_->FindOrAdd(item.sku);
    line->action = data_->FindOrAdd(item.action);
    ++line;
  }
}

QuotaBook::BuyResult QuotaBook::Buy(const QuotaOrder& order, int64_t now_ms, QuotaLefts& left) {
  BuyResult result;
  BookUsers users(*data_);
  if (MayBeAhead(now_ms)) [[unlikely]]
    result.set_back = users.SetBack(order.user, now_ms);
  BookIds skus(order.items.size());
  for (size_t i = 0; i < skus.size(); ++i) skus[i] = data_->Find(order.items[i].sku);
  LeaveDistinct(skus);
  const BookAnswers answers(*data_);
  const BookAnswers::CallHashes hashes = answers.Approach(order.user, skus);
  const LargeStore store(*data_);
  LargeUser* const large = store.Open(EntityKey(order.user).view());
  OpenUser user = users.Open(order.user, hashes.user, now_ms);
  user.large = large;
  LeftCounters counters(now_ms);
  const bool is_counted = order.if_left || order.is_answered;
  if (is_counted) answers.AddSkus(skus, hashes, counters);

  bool known = false;
  for (const PurchaseLine& line : user.purchases.lines) {
    if (is_counted) counters.Count(line);
    known |= line.order == order.order;
  }
  if (large != nullptr) {
    const std::string_view key = user.key.view();
    if (is_counted) LargePurchases(*data_).Count(key, *large, now_ms, counters);
    known = order.once && store.Knows(key, *large, order.order, data_->retention.At(now_ms));
  }
  if (!order.once || !known) Apply(order, now_ms, user, counters, result);
  left.Clear();
  if (!order.is_answered) return result;
  for (const QuotaItem& item : order.items) {
    counters.AppendLeft(data_->Find(item.sku), item.sku, data_->texts.get(), left);
  }
  return result;
}

void QuotaBook::Apply(const QuotaOrder& order, int64_t now_ms, OpenUser& user,
                      LeftCounters& counters, BuyResult& result) {
  const bool is_held = order.hold_ms > 0;
  PurchaseLine line;
  line.order = order.order;
  line.ts_ms = std::min(order.ts_ms, now_ms);
  line.recorded_ms = now_ms;
  line.held_at_ms = is_held ? now_ms : 0;
  line.hold_ms = order.hold_ms;
  const bool in_retention = line.ts_ms > data_->retention.Horizon(now_ms);
  RecordingOrder recording = data_->recording;
  if (in_retention) line.recorded_ms = recording.Stamp(line.ts_ms, now_ms);
  if (is_held) recording.NoteHold(line.held_at_ms);
  data_->any_holds |= is_held;
  for (size_t i = 0; i < order.items.size(); ++i) {
    const QuotaItem& item = order.items[i];
    Check(item.qty >= 0, "a quantity is not negative");
    line.sku = data_->Find(item.sku);
    line.action = data_->Find(item.action);
    line.qty = item.qty;
    if (!counters.Try(line) && order.if_left && result.item == 0) result.item = i + 1;
    if (in_retention) user.purchases.lines.push_back(line);
  }
  result.applied = result.item == 0;
  result.recorded = result.applied && in_retention && !order.items.empty();
  if (!result.recorded) return counters.GiveUp();
  data_->recording = recording;
  NameTexts(order.items, user.purchases.lines);
  if (user.large == nullptr) return BookUsers(*data_).Store(user);
  LargePurchases(*data_).Record(user.key.view(), *user.large, order.order, user.purchases.lines,
                                now_ms);
}

bool QuotaBook::Return(const QuotaReturn& request, int64_t now_ms, std::vector<int32_t>& credited) {
  credited.assign(request.items.size(), 0);
  BookUsers users(*data_);
  OpenUser user = users.OpenOrder(request.user, request.order, now_ms);
  OrderLines order(user.purchases.lines, request.order);
  if (order.empty()) return false;

  absl::flat_hash_set<BookId> seen;  // SKUs with a remembered return of this order and ts_ms
  for (const ReturnMark& mark : user.purchases.returns) {
    if (mark.order == request.order && mark.ts_ms == request.ts_ms) seen.insert(mark.sku);
  }
  const auto is_seen = [&](BookId sku) {
    if (user.large == nullptr) return seen.contains(sku);
    const ReturnMark mark{request.order, sku, request.ts_ms};
    return LargeStore(*data_).HasMark(user.key.view(), *user.large, mark);
  };
  absl::flat_hash_set<BookId> now_seen;
  for (size_t i = 0; i < request.items.size(); ++i) {
    const QuotaReturnItem& item = request.items[i];
    Check(item.qty >= 0, "a quantity is not negative");
    const BookId sku = data_->Find(item.sku);
    if (request.once && is_seen(sku)) continue;
    credited[i] = order.Credit(sku, item.qty);
    if (credited[i] == 0 || is_seen(sku)) continue;
    if (!now_seen.insert(sku).second) continue;
    user.purchases.returns.push_back({request.order, sku, request.ts_ms});
  }
  if (std::all_of(credited.begin(), credited.end(), [](int32_t qty) { return qty == 0; })) {
    return false;
  }
  users.StoreOrder(user, now_ms);
  return true;
}

QuotaBook::ConfirmResult QuotaBook::Confirm(const QuotaId& user_id, const QuotaId& order,
                                            int64_t now_ms) {
  BookUsers users(*data_);
  OpenUser user = users.OpenOrder(user_id, order, now_ms);
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
  if (result.changed) users.StoreOrder(user, now_ms);
  return result;
}

void QuotaBook::Left(const QuotaId& user, std::span<const QuotaId> skus, int64_t at_ms,
                     int64_t now_ms, QuotaLefts& left, bool prefetched) const {
  BookAnswers(*data_).Left(user, skus, at_ms, now_ms, left, prefetched);
}

bool QuotaBook::LeftAll(std::span<const QuotaId> users, const QuotaActions& actions, int64_t now_ms,
                        QuotaUserLefts& left) const {
  return BookAnswers(*data_).LeftAll(users, actions, now_ms, left);
}

void QuotaBook::CountUses(const QuotaId& user, std::span<const QuotaId> skus, int64_t now_ms,
                          LeftCounters& counters) const {
  BookAnswers(*data_).CountUses(user, skus, now_ms, counters);
}

void QuotaBook::Prefetch(std::span<const QuotaId> users, std::span<const QuotaId> skus) const {
  BookAnswers(*data_).Prefetch(users, skus);
}

size_t QuotaBook::Reset(std::span<const QuotaId> users, const QuotaActions& actions,
                        int64_t now_ms) {
  const BookActions listed = data_->Find(actions);
  BookUsers kept(*data_);
  absl::flat_hash_set<QuotaId> known;  // a second reset of a user changes nothing
  size_t reset = 0;
  for (const QuotaId& user : users) {
    if (known.insert(user).second && kept.Reset(user, listed, now_ms)) ++reset;
  }
  return reset;
}

void QuotaBook::SetMinRetention(int64_t min_retention_ms, int64_t now_ms) {
  Check(min_retention_ms > 0, "retention is positive");
  const int64_t old_length_ms = data_->retention.length_ms();
  data_->retention.set_minimum_ms(min_retention_ms);
  BookUsers(*data_).SettleRetention(old_length_ms, now_ms);
}

QuotaBook::Stats QuotaBook::stats() const {
  const size_t large = data_->large == nullptr ? 0 : data_->large->users.size();
  return {data_->limit_count, data_->users.size() + large, data_->purchase_count, MemoryBytes()};
}

RecordTable::Segment* QuotaBook::NextToSweep() {
  if (sweep_ == Sweep::kUsers) return data_->users.NextSegment(sweep_position_);
  if (sweep_ == Sweep::kLimits) return data_->limits.NextSegment(sweep_position_);
  return data_->parted == nullptr ? nullptr : data_->parted->parts.NextSegment(sweep_position_);
}

size_t QuotaBook::ExpireSome(int64_t now_ms, size_t budget, QuotaExpired* expired) {
  const int64_t horizon_ms = data_->retention.Horizon(now_ms);
  const int64_t widest_horizon_ms = data_->retention.WidestHorizon(now_ms);
  const size_t before = data_->purchase_count;
  while (budget > 0) {
    if (sweep_ == Sweep::kLarge) {
      if (!LargeExpiry(*data_).Sweep(now_ms, budget, expired)) sweep_ = Sweep::kUsers;
      break;
    }
    const bool sweeping_limits = sweep_ != Sweep::kUsers;
    RecordTable::Segment* segment = NextToSweep();
    if (segment == nullptr) {
      sweep_position_ = 0;
      sweep_ = static_cast<Sweep>(static_cast<int>(sweep_) + 1);
      continue;
    }
    // A segment in which nothing is due costs one, however many records it holds.
    const bool is_due = segment->due_ms <= (sweeping_limits ? horizon_ms : widest_horizon_ms);
    budget -= std::min(budget, 1 + (is_due ? segment->size() : 0));
    if (!is_due) continue;
    if (sweeping_limits) {
      BookLimits(*data_).Sweep(*segment, sweep_ == Sweep::kParts, now_ms, expired);
    } else {
      BookUsers(*data_).Sweep(*segment, now_ms, expired);
    }
  }
  return before - data_->purchase_count;
}

bool QuotaBook::PrepareNext() {
  if (data_->large == nullptr) return false;
  const auto next = data_->large->users.lower_bound(data_->large->prepare_from);
  if (next == data_->large->users.end()) {
    data_->large->prepare_from.clear();
    return false;
  }
  LargeStore(*data_).Index(next->first, *next->second);
  data_->large->prepare_from = next->first + '\0';
  return true;
}

bool QuotaBook::ExpireUser(const QuotaId& user, int64_t now_ms) {
  return BookUsers(*data_).Expire(user, now_ms);
}
bool QuotaBook::ExpireLimits(const QuotaId& sku, int64_t now_ms) {
  return BookLimits(*data_).Expire(sku, now_ms);
}

bool QuotaBook::NextAhead(AheadCursor& cursor, int64_t now_ms, size_t count,
                          std::vector<std::string>& users) const {
  return BookUsers(*data_).NextAhead(cursor, now_ms, count, users);
}

void QuotaBook::PackLargeUsers() {
  while (data_->large != nullptr && !data_->large->users.empty()) {
    LargeExpiry(*data_).Pack(data_->large->users.begin()->first);
  }
}

QuotaBook QuotaBook::Clone() const { return QuotaBook(data_->Clone()); }

uint64_t QuotaBook::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  if (cursor == 0) SaveHeader(*data_, out);
  return SaveRun(data_->tables(), cursor, max_bytes, out);
}

void QuotaBook::BeginSnapshot(RunSink sink) {
  std::string header;
  SaveHeader(*data_, header);
  sink(header);
  data_->BeginSnapshot(std::move(sink));
}

bool QuotaBook::Load(std::string_view run) { return LoadRun(*data_, run); }

}  // namespace tally
