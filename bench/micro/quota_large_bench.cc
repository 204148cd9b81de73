// What one command costs for a user who has bought 10 to 1,000,000 times. The number stays the same
// during a measurement: with each purchase the oldest one leaves its window of 30 days.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "core/quota/quota_book.h"

namespace {

constexpr int64_t kBegin = 1'760'000'000'000;
constexpr int64_t kUser = 7;

// Book of one user; SKUs have a limit over all actions and one for the action 7.
class Shop {
 public:
  Shop(int64_t purchases, int64_t skus)
      : skus_(skus), step_ms_(tally::kDefaultQuotaRetentionMs / purchases) {
    for (int64_t sku = 0; sku < skus; ++sku) {
      const std::vector<tally::QuotaLimitSpec> limits = {
          {sku, 0, INT32_MAX, tally::kDefaultQuotaRetentionMs},
          {sku, 7, INT32_MAX, tally::kDefaultQuotaRetentionMs}};
      book_.SetLimits(limits, kBegin);
    }
    for (int64_t i = 0; i < purchases; ++i) Buy(false, 0);
  }

  void Buy(bool if_left, int64_t late_ms) {
    now_ms_ += step_ms_;
    const std::vector<tally::QuotaItem> items = {
        {static_cast<int64_t>(random_() % static_cast<uint64_t>(skus_)), random_() % 2 ? 7 : 0, 1}};
    book_.Buy({kUser, ++order_, items, now_ms_ - late_ms, if_left}, now_ms_, lefts_);
  }

  int64_t AnyTimeAgo() {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(tally::kDefaultQuotaRetentionMs));
  }

  void Return(int64_t purchases) {
    const int64_t ago = static_cast<int64_t>(random_() % static_cast<uint64_t>(purchases / 2));
    std::vector<tally::QuotaReturnItem> items;
    for (int64_t sku = 0; sku < std::min<int64_t>(skus_, 4); ++sku) items.push_back({sku, 1});
    book_.Return({kUser, order_ - ago, items, now_ms_}, now_ms_, credited_);
  }

  void Left() {
    const std::vector<tally::QuotaId> skus = {0};
    book_.Left(kUser, skus, now_ms_, now_ms_, lefts_);
  }

  tally::QuotaBook& book() { return book_; }

 private:
  int64_t skus_;
  int64_t step_ms_;
  int64_t now_ms_ = kBegin;
  int64_t order_ = 5'000'000'000;
  std::mt19937_64 random_{1};
  tally::QuotaBook book_{1};
  tally::QuotaLefts lefts_;
  std::vector<int32_t> credited_;
};

// One shop of each size is kept for all commands.
Shop& ShopOf(benchmark::State& state) {
  static std::map<std::pair<int64_t, int64_t>, Shop> shops;
  const auto [shop, is_new] =
      shops.try_emplace({state.range(0), state.range(1)}, state.range(0), state.range(1));
  return shop->second;
}

void Report(benchmark::State& state, Shop& shop) {
  const auto stats = shop.book().stats();
  state.counters["purchases"] = static_cast<double>(stats.purchases);
  state.counters["bytes_a_purchase"] =
      static_cast<double>(stats.bytes) / static_cast<double>(stats.purchases);
}

void BM_Buy(benchmark::State& state) {
  Shop& shop = ShopOf(state);
  for (auto _ : state) shop.Buy(true, 0);
  Report(state, shop);
}

void BM_Record(benchmark::State& state) {
  Shop& shop = ShopOf(state);
  for (auto _ : state) shop.Buy(false, 0);
  Report(state, shop);
}

void BM_RecordLate(benchmark::State& state) {
  Shop& shop = ShopOf(state);
  for (auto _ : state) shop.Buy(false, shop.AnyTimeAgo());
  Report(state, shop);
}

void BM_Return(benchmark::State& state) {
  Shop& shop = ShopOf(state);
  for (auto _ : state) shop.Return(state.range(0));
  Report(state, shop);
}

void BM_Left(benchmark::State& state) {
  Shop& shop = ShopOf(state);
  for (auto _ : state) shop.Left();
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t skus : {1, 100, 20'000}) {
    for (const int64_t purchases : {10, 128, 1000, 10'000, 100'000, 1'000'000}) {
      benchmark->Args({purchases, skus});
    }
  }
}

BENCHMARK(BM_Buy)->Apply(Sizes);
BENCHMARK(BM_Record)->Apply(Sizes);
BENCHMARK(BM_Left)->Apply(Sizes);
BENCHMARK(BM_Return)->Apply(Sizes);
BENCHMARK(BM_RecordLate)->Apply(Sizes);

}  // namespace
