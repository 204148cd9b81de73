// What goes into and comes out of a quota book. All times are unix milliseconds.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tally {

// "Outside any marketing action". Its limit is over all purchases of the SKU, whatever their
// action.
inline constexpr int64_t kNoAction = 0;

// What `left` reads where a SKU has no limit at all; nothing else is ever negative.
inline constexpr int64_t kUnlimited = -1;

struct QuotaLimitSpec {
  int64_t sku = 0;
  int64_t action = kNoAction;
  int32_t limit = 0;      // >= 0
  int64_t window_ms = 0;  // > 0
};

struct QuotaLimit {
  int64_t action = kNoAction;
  int32_t limit = 0;
  int64_t window_ms = 0;
  int64_t set_at_ms = 0;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};

struct QuotaItem {
  int64_t sku = 0;
  int64_t action = kNoAction;
  int32_t qty = 0;  // >= 0
};

struct QuotaReturnItem {
  int64_t sku = 0;
  int32_t qty = 0;  // >= 0
};

// A line of an order that is still kept; `qty` is what has not been returned of it.
struct QuotaPurchase {
  int64_t order = 0;
  int64_t sku = 0;
  int64_t action = kNoAction;
  int32_t qty = 0;
  int64_t ts_ms = 0;
  friend bool operator==(const QuotaPurchase&, const QuotaPurchase&) = default;
};

struct QuotaLeft {
  int64_t action = kNoAction;
  int64_t left = 0;
  friend bool operator==(const QuotaLeft&, const QuotaLeft&) = default;
};

// What is left of several SKUs, in two flat arrays that a caller can use again and again.
class QuotaLefts {
 public:
  void Clear() {
    skus_.clear();
    values_.clear();
  }
  void BeginSku(int64_t sku) { skus_.emplace_back(sku, values_.size()); }
  void Add(int64_t action, int64_t left) { values_.emplace_back(action, left); }

  size_t size() const { return skus_.size(); }
  int64_t sku(size_t i) const { return skus_[i].sku; }
  // Ascending by action.
  std::span<const QuotaLeft> of(size_t i) const {
    const size_t end = i + 1 < skus_.size() ? skus_[i + 1].begin : values_.size();
    return std::span(values_).subspan(skus_[i].begin, end - skus_[i].begin);
  }

 private:
  struct Sku {
    int64_t sku;
    size_t begin;
  };
  absl::InlinedVector<Sku, 8> skus_;
  absl::InlinedVector<QuotaLeft, 16> values_;
};

// The ACTIONS of a command: every action, or the ones listed.
class QuotaActions {
 public:
  QuotaActions() = default;
  explicit QuotaActions(std::vector<int64_t> actions) : all_(false), actions_(std::move(actions)) {
    std::sort(actions_.begin(), actions_.end());
  }
  bool all() const { return all_; }
  bool Contains(int64_t action) const {
    return all_ || std::binary_search(actions_.begin(), actions_.end(), action);
  }

 private:
  bool all_ = true;
  std::vector<int64_t> actions_;
};

}  // namespace tally
