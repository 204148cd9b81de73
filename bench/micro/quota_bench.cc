// A quota book of a hundredth of the marketplace's size: 60,000 limits, 100,000 users, 1,000,000
// purchases over 30 days.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "core/quota/quota_book.h"

namespace {

constexpr int64_t kNow = 1'760'000'000'000;
constexpr int64_t kUsers = 100'000;
constexpr int64_t kSkus = 60'000;
constexpr int64_t kRounds = 10;

class Traffic {
 public:
  int64_t User() { return static_cast<int64_t>(engine_() % kUsers) * 97; }
  // A user's purchases are of few SKUs, which is where reads go.
  int64_t Sku(int64_t user) {
    return (user * 7919 + static_cast<int64_t>(engine_() % 8) * 31) % kSkus;
  }
  int64_t Action() { return engine_() % 3 == 0 ? 7 : 0; }

 private:
  std::mt19937_64 engine_{1};
};

tally::QuotaBook Filled() {
  tally::QuotaBook book(1);
  std::vector<tally::QuotaLimitSpec> limits;
  for (int64_t sku = 0; sku < kSkus; ++sku) {
    limits.push_back({sku, 0, 30, tally::kDefaultQuotaRetentionMs});
  }
  book.SetLimits(limits, kNow - tally::kDefaultQuotaRetentionMs);
  Traffic traffic;
  tally::QuotaLefts lefts;
  for (int64_t round = 0; round < kRounds; ++round) {
    for (int64_t user = 0; user < kUsers; ++user) {
      const int64_t ts =
          kNow - tally::kDefaultQuotaRetentionMs / kRounds * (kRounds - round) + user * 2591 + 1;
      const std::vector<tally::QuotaItem> items = {
          {traffic.Sku(user * 97), traffic.Action(), 1 + static_cast<int32_t>(user % 3)}};
      book.Buy({user * 97, ts / 26, items, ts}, ts, lefts);
    }
  }
  return book;
}

tally::QuotaBook& Book() {
  static tally::QuotaBook book = Filled();
  return book;
}

void ReportBytes(benchmark::State& state) {
  const auto stats = Book().stats();
  state.counters["bytes_a_purchase"] =
      static_cast<double>(stats.bytes) / static_cast<double>(stats.purchases);
}

void BM_LeftOfThreeSkus(benchmark::State& state) {
  tally::QuotaBook& book = Book();
  Traffic traffic;
  tally::QuotaLefts lefts;
  std::vector<tally::QuotaId> skus(3);
  for (auto _ : state) {
    const int64_t user = traffic.User();
    for (tally::QuotaId& sku : skus) sku = traffic.Sku(user);
    book.Left(user, skus, kNow, kNow, lefts);
    benchmark::DoNotOptimize(lefts.of(0).data());
  }
  ReportBytes(state);
}
BENCHMARK(BM_LeftOfThreeSkus);

void BM_DecodeUser(benchmark::State& state) {
  tally::QuotaBook& book = Book();
  tally::QuotaLefts lefts;
  for (auto _ : state) {
    book.Left(97 * 5, {}, kNow, kNow, lefts);
    benchmark::DoNotOptimize(lefts.size());
  }
}
BENCHMARK(BM_DecodeUser);

// Each on a copy of its own, so that the book stays what it was for the others.
void BM_BuyChecked(benchmark::State& state) {
  tally::QuotaBook book = Book().Clone();
  Traffic traffic;
  tally::QuotaLefts lefts;
  int64_t now = kNow;
  for (auto _ : state) {
    const int64_t user = traffic.User();
    const tally::QuotaItem items[] = {{traffic.Sku(user), traffic.Action(), 1}};
    now += 30;  // about as fast as the old purchases leave
    benchmark::DoNotOptimize(book.Buy({user, now / 26, items, now, true, true}, now, lefts));
  }
}
BENCHMARK(BM_BuyChecked);

void BM_Return(benchmark::State& state) {
  tally::QuotaBook book = Book().Clone();
  Traffic traffic;
  std::vector<tally::QuotaPurchase> lines;
  std::vector<int32_t> credited;
  int64_t now = kNow;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t user = traffic.User();
    lines.clear();
    book.ForEachPurchase(user, now,
                         [&](const tally::QuotaPurchase& line) { lines.push_back(line); });
    if (lines.empty()) {
      state.ResumeTiming();
      continue;
    }
    const tally::QuotaReturnItem items[] = {{lines.back().sku, 1}};
    ++now;
    state.ResumeTiming();
    book.Return({user, lines.back().order, items, now, true}, now, credited);
    benchmark::DoNotOptimize(credited.data());
  }
}
BENCHMARK(BM_Return)->Iterations(100'000);

void BM_SweepOfADay(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    tally::QuotaBook book = Book().Clone();
    state.ResumeTiming();
    // Two rounds: one over users, one over SKUs.
    benchmark::DoNotOptimize(book.ExpireSome(kNow + 24 * 3'600'000, 10'000'000));
  }
}
BENCHMARK(BM_SweepOfADay)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
