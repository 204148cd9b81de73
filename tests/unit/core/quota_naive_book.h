// A quota book as lists of purchases, from which each answer is recomputed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/quota/quota_book.h"
#include "quota_fixture.h"

namespace tally::test {

// Ids are kept as they are given: their texts must outlive the book.
//
// The clock never goes back here, so what is out of retention can be thrown away at each step.
class NaiveBook {
 public:
  explicit NaiveBook(int64_t min_retention_ms) : min_retention_ms_(min_retention_ms) {}

  void Tick(int64_t now_ms) {
    now_ms_ = now_ms;
    int64_t retention = min_retention_ms_;
    for (const auto& [id, limit] : limits_) retention = std::max(retention, limit.window_ms);
    for (auto& [user, lines] : users_) {
      std::erase_if(lines, [&](const Line& line) {
        return line.purchase.ts_ms <= now_ms - retention ||
               (line.purchase.held_until_ms != 0 && line.purchase.held_until_ms <= now_ms);
      });
      std::erase_if(returns_, [&, id = user](const auto& key) {
        return std::get<0>(key) == id && !Knows(id, std::get<1>(key));
      });
    }
  }

  void SetLimits(const std::vector<QuotaLimitSpec>& specs) {
    for (const QuotaLimitSpec& spec : specs) {
      limits_[{spec.sku, spec.action}] = {spec.action, spec.limit, spec.window_ms, now_ms_};
    }
  }

  size_t DelLimits(const std::vector<QuotaId>& skus, const QuotaActions& actions) {
    ++sequence_;
    return std::erase_if(limits_, [&](const auto& entry) {
      const auto [sku, action] = entry.first;
      const bool listed = std::find(skus.begin(), skus.end(), sku) != skus.end();
      if (!listed || !Contains(actions, action)) return false;
      deleted_[entry.first] = sequence_;
      return true;
    });
  }

  std::vector<QuotaLimit> Limits(const QuotaId& sku) const {
    std::vector<QuotaLimit> found;
    for (const auto& [id, limit] : limits_) {
      if (id.first == sku) found.push_back(limit);
    }
    return found;
  }

  // Calls visit(purchase) for each line that counts for the limit at `at_ms`.
  template <typename Visit>
  void ForEachCounted(const QuotaId& user, const QuotaId& sku, const QuotaLimit& limit,
                      int64_t at_ms, Visit visit) const {
    const auto deleted = deleted_.find({sku, limit.action});
    const auto lines = users_.find(user);
    if (lines == users_.end()) return;
    for (const Line& line : lines->second) {
      if (line.purchase.sku != sku || line.no_more.contains(limit.action)) continue;
      if (limit.action != 0 && limit.action != line.purchase.action) continue;
      if (deleted != deleted_.end() && line.sequence < deleted->second) continue;
      const int64_t held_until_ms = line.purchase.held_until_ms;
      const bool counts = held_until_ms != 0 ? at_ms < held_until_ms
                                             : at_ms - limit.window_ms < line.purchase.ts_ms;
      if (counts) visit(line.purchase);
    }
  }

  // What is left before it is cut off at zero.
  int64_t RawLeft(const QuotaId& user, const QuotaId& sku, const QuotaLimit& limit,
                  int64_t at_ms) const {
    int64_t left = limit.limit;
    ForEachCounted(user, sku, limit, at_ms,
                   [&](const QuotaPurchase& purchase) { left -= purchase.qty; });
    return left;
  }

  std::vector<QuotaUse> Uses(const QuotaId& user, const QuotaId& sku) const {
    std::vector<QuotaUse> uses;
    for (const QuotaLimit& limit : Limits(sku)) {
      const int64_t left = RawLeft(user, sku, limit, now_ms_);
      QuotaUse use{limit.action, limit.limit, limit.window_ms, limit.limit - left,
                   std::max<int64_t>(left, 0)};
      ForEachCounted(user, sku, limit, now_ms_, [&](const QuotaPurchase& purchase) {
        const int64_t leaves_ms = purchase.held_until_ms != 0
                                      ? purchase.held_until_ms
                                      : std::min(purchase.ts_ms, now_ms_) + limit.window_ms;
        if (purchase.qty == 0) return;
        if (use.next_ms == 0 || leaves_ms < use.next_ms) use.next_ms = leaves_ms;
      });
      uses.push_back(use);
    }
    return uses;
  }

  Lefts Left(const QuotaId& user, const QuotaId& sku, int64_t at_ms) const {
    Lefts lefts;
    for (const QuotaLimit& limit : Limits(sku)) {
      lefts.emplace_back(limit.action, std::max<int64_t>(RawLeft(user, sku, limit, at_ms), 0));
    }
    if (lefts.empty()) lefts.emplace_back(0, -1);
    return lefts;
  }

  std::pair<bool, size_t> Buy(const QuotaOrder& order) {
    ++sequence_;
    if (order.once && Knows(order.user, order.order)) return {false, 0};
    const NaiveBook before = *this;
    for (size_t i = 0; i < order.items.size(); ++i) {
      const QuotaItem& item = order.items[i];
      users_[order.user].push_back(
          {{order.order, item.sku, item.action, item.qty, std::min(order.ts_ms, now_ms_),
            order.hold_ms == 0 ? 0 : now_ms_ + order.hold_ms},
           sequence_,
           {}});
      if (!order.if_left) continue;
      for (const QuotaLimit& limit : Limits(item.sku)) {
        if (limit.action != 0 && limit.action != item.action) continue;
        if (RawLeft(order.user, item.sku, limit, now_ms_) >= 0) continue;
        *this = before;
        return {false, i + 1};
      }
    }
    Tick(now_ms_);
    return {true, 0};
  }

  std::vector<int32_t> Return(const QuotaReturn& request) {
    std::vector<int32_t> credited;
    const auto before = returns_;
    for (const QuotaReturnItem& item : request.items) {
      const auto key = std::make_tuple(request.user, request.order, item.sku, request.ts_ms);
      int32_t taken = 0;
      if (!request.once || !before.contains(key)) {
        for (Line& line : users_[request.user]) {
          if (line.purchase.order != request.order || line.purchase.sku != item.sku) continue;
          const int32_t part = std::min(item.qty - taken, line.purchase.qty);
          line.purchase.qty -= part;
          taken += part;
        }
      }
      if (taken > 0) returns_.insert(key);
      credited.push_back(taken);
    }
    return credited;
  }

  // Returns whether some of the order is a purchase now.
  bool Confirm(const QuotaId& user, const QuotaId& order) {
    const auto lines = users_.find(user);
    if (lines == users_.end()) return false;
    const auto is_bought = [&](const Line& line) {
      return line.purchase.order == order && line.purchase.qty > 0;
    };
    if (std::none_of(lines->second.begin(), lines->second.end(), is_bought)) return false;
    for (Line& line : lines->second) {
      if (line.purchase.order == order) line.purchase.held_until_ms = 0;
    }
    return true;
  }

  // No action listed: all. Returns whether that changed anything.
  bool Reset(const QuotaId& user, const std::vector<QuotaId>& listed) {
    std::vector<Line>& lines = users_[user];
    if (listed.empty()) {
      std::erase_if(returns_, [&](const auto& key) { return std::get<0>(key) == user; });
      return std::exchange(lines, {}).size() > 0;
    }
    bool changed = false;
    for (Line& line : lines) {
      for (const QuotaId& action : listed) {
        if (action != kNoAction && action != line.purchase.action) continue;
        changed |= line.no_more.insert(action).second;
      }
    }
    return changed;
  }

  std::vector<QuotaPurchase> History(const QuotaId& user) const {
    std::vector<QuotaPurchase> purchases;
    const auto lines = users_.find(user);
    if (lines == users_.end()) return purchases;
    for (const Line& line : lines->second) purchases.push_back(line.purchase);
    return purchases;
  }

  std::map<QuotaId, Lefts> LeftAll(const QuotaId& user, const QuotaActions& actions) const {
    std::map<QuotaId, Lefts> all;
    for (const QuotaPurchase& purchase : History(user)) {
      if (purchase.qty == 0) continue;
      Lefts lefts = Limits(purchase.sku).empty() ? Lefts() : Left(user, purchase.sku, now_ms_);
      std::erase_if(lefts, [&](const auto& left) { return !Contains(actions, left.first); });
      if (!lefts.empty()) all[purchase.sku] = lefts;
    }
    return all;
  }

 private:
  struct Line {
    QuotaPurchase purchase;
    int64_t sequence;           // when it was recorded
    std::set<QuotaId> no_more;  // actions whose totals it was reset from
  };

  static bool Contains(const QuotaActions& actions, const QuotaId& action) {
    const auto listed = actions.listed();
    return actions.all() || std::find(listed.begin(), listed.end(), action) != listed.end();
  }

  bool Knows(const QuotaId& user, const QuotaId& order) const {
    const auto lines = users_.find(user);
    return lines != users_.end() &&
           std::any_of(lines->second.begin(), lines->second.end(),
                       [&](const Line& line) { return line.purchase.order == order; });
  }

  int64_t min_retention_ms_;
  int64_t now_ms_ = 0;
  int64_t sequence_ = 0;
  std::map<std::pair<QuotaId, QuotaId>, QuotaLimit> limits_;
  std::map<std::pair<QuotaId, QuotaId>, int64_t> deleted_;
  std::map<QuotaId, std::vector<Line>> users_;
  std::set<std::tuple<QuotaId, QuotaId, QuotaId, int64_t>> returns_;
};

}  // namespace tally::test
