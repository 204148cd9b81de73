// The arguments and results of a quota book. All times are unix milliseconds. The texts of ids that
// it returns are valid until the book next changes.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/quota/quota_id.h"

namespace tally {

// "Outside any marketing action". Its limit is over all purchases of the SKU, whatever their
// action.
inline constexpr int64_t kNoAction = 0;

// The value of `left` for a SKU without any limit. No other value of `left` is negative.
inline constexpr int64_t kUnlimited = -1;

struct QuotaLimitSpec {
  QuotaId sku;
  QuotaId action = kNoAction;
  int32_t limit = 0;      // >= 0
  int64_t window_ms = 0;  // > 0
};

struct QuotaLimit {
  QuotaId action = kNoAction;
  int32_t limit = 0;
  int64_t window_ms = 0;
  int64_t set_at_ms = 0;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};

struct QuotaItem {
  QuotaId sku;
  QuotaId action = kNoAction;
  int32_t qty = 0;  // >= 0
};

struct QuotaReturnItem {
  QuotaId sku;
  int32_t qty = 0;  // >= 0
};

// A limit, and what a user has used of it.
struct QuotaUse {
  QuotaId action = kNoAction;
  int32_t limit = 0;
  int64_t window_ms = 0;
  int64_t used = 0;     // may be more than the limit
  int64_t left = 0;     // never below 0
  int64_t next_ms = 0;  // when the first of what counts counts no more; 0 if nothing counts
  friend bool operator==(const QuotaUse&, const QuotaUse&) = default;
};

// A line of an order that is still kept; `qty` is the quantity that has not been returned.
struct QuotaPurchase {
  QuotaId order;
  QuotaId sku;
  QuotaId action = kNoAction;
  int32_t qty = 0;
  int64_t ts_ms = 0;
  int64_t held_until_ms = 0;  // 0: it is a purchase
  friend bool operator==(const QuotaPurchase&, const QuotaPurchase&) = default;
};

struct QuotaLeft {
  QuotaId action = kNoAction;
  int64_t left = 0;
  friend bool operator==(const QuotaLeft&, const QuotaLeft&) = default;
};

// The most limits that one call answers for, and the most purchases of large users that it visits,
// so that no call that names many ids stalls its host. A call that names one id has no such limit.
inline constexpr size_t kMaxQuotaAnswer = 100'000;

// What is left of several SKUs, in two flat arrays that a caller can reuse.
class QuotaLefts {
 public:
  void Clear() {
    skus_.clear();
    values_.clear();
  }
  void BeginSku(const QuotaId& sku) { skus_.emplace_back(sku, values_.size()); }
  void Add(const QuotaId& action, int64_t left) { values_.emplace_back(action, left); }
  // Must be called after several actions that are texts were added to the last SKU: they are added
  // in the order of their numbers, not of their texts.
  void SortLastSku() {
    const auto begin = values_.begin() + static_cast<ptrdiff_t>(skus_.back().begin);
    std::sort(begin, values_.end(),
              [](const QuotaLeft& a, const QuotaLeft& b) { return a.action < b.action; });
  }

  size_t size() const { return skus_.size(); }
  // Of all SKUs together.
  size_t values() const { return values_.size(); }
  const QuotaId& sku(size_t i) const { return skus_[i].sku; }
  // Ascending by action.
  std::span<const QuotaLeft> of(size_t i) const {
    const size_t end = i + 1 < skus_.size() ? skus_[i + 1].begin : values_.size();
    return std::span(values_).subspan(skus_[i].begin, end - skus_[i].begin);
  }

 private:
  struct Sku {
    QuotaId sku;
    size_t begin;
  };
  absl::InlinedVector<Sku, 8> skus_;
  absl::InlinedVector<QuotaLeft, 16> values_;
};

// The same for several users.
struct QuotaUserLefts {
  struct Skus {
    size_t begin = 0;
    size_t end = 0;
  };
  QuotaLefts lefts;
  std::vector<Skus> users;  // which of `lefts` are those of each user
};

// The ACTIONS of a command: every action, or the ones listed.
class QuotaActions {
 public:
  QuotaActions() = default;
  explicit QuotaActions(std::vector<QuotaId> listed) : all_(false), listed_(std::move(listed)) {}
  bool all() const { return all_; }
  bool none() const { return !all_ && listed_.empty(); }
  std::span<const QuotaId> listed() const { return listed_; }

 private:
  bool all_ = true;
  std::vector<QuotaId> listed_;
};

// Of whom and what something was freed, in order, as the texts of their ids.
struct QuotaExpired {
  std::vector<std::string> users;
  std::vector<std::string> skus;
  bool empty() const { return users.empty() && skus.empty(); }
};

}  // namespace tally
