// The marketplace's data and traffic at a scale of its full size, the same at every run.
//
// At scale 1: 6M limits on 4M SKUs, 10M users, 100M purchase lines in 40M orders over 30 days. A
// user has ten lines of seven to ten SKUs in four orders; the orders come in the order of their
// times, those of one user far apart from each other. SKUs are as popular as Zipf's law has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tally::bench {

class Workload {
 public:
  static constexpr const char* kBook = "book";

  // Orders are placed in the 30 days before `now_ms`.
  Workload(double scale, int64_t now_ms);

  size_t limits() const { return limit_count_; }
  size_t users() const { return users_; }
  size_t orders() const { return users_ * kOrdersOfAUser; }

  // Each appends one command.
  void AppendLimits(size_t sku_begin, size_t sku_end, std::string& out) const;
  size_t skus() const { return skus_; }
  void AppendOrder(size_t index, std::string& out) const;
  // What QUOTA.HISTORY replies first, in wire format, of the user who orders first of all but
  // `place`: the lines of AppendOrder.
  int64_t UserAt(size_t place) const { return kFirstUser + static_cast<int64_t>(IndexAt(place)); }
  std::string HistoryAt(size_t place) const;
  void AppendLeft(std::string& out);
  void AppendBuy(std::string& out);
  // Returns one of the latest orders of AppendBuy; a LEFT while there is none.
  void AppendReturn(std::string& out);
  // 90% LEFT, 8% BUY, 2% RETURN.
  void AppendMixed(std::string& out);

 private:
  static constexpr int64_t kFirstUser = 10'000'000;
  static constexpr size_t kOrdersOfAUser = 4;
  static constexpr size_t kLatestOrders = 4096;
  using Random = std::mt19937_64;

  struct Line {
    int64_t sku;
    int64_t action;
    int64_t qty;
  };
  struct Bought {
    int64_t user;
    int64_t order;
    int64_t sku;
  };

  size_t IndexAt(size_t place) const;
  int64_t OrderedAtSeconds(size_t index) const;
  template <typename Generator>
  int64_t AnySku(Generator& random) const;
  int64_t AnyUser();
  std::vector<Line> LinesOf(size_t user) const;

  size_t skus_;
  size_t limit_count_;
  size_t users_;
  int64_t begin_ms_;
  int64_t next_order_;
  Random random_{20'240'501};
  std::vector<Bought> latest_;
};

}  // namespace tally::bench
