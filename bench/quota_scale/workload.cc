#include "bench/quota_scale/workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/quota_scale/connection.h"
#include "core/bytes/number.h"

namespace tally::bench {
namespace {

constexpr double kFullSkus = 4e6;
constexpr double kFullUsers = 10e6;
constexpr int64_t kSpanMs = int64_t{30} * 24 * 3600 * 1000;
// Ids of the magnitude that a shop has.
constexpr int64_t kFirstSku = 100'000'000;
constexpr int64_t kFirstOrder = 5'000'000'000;
// Prime and larger than any number of users: multiples of it visit all of them in a mixed order.
constexpr size_t kStride = 2'147'483'647;
// Where each of a user's orders begins among the user's ten lines.
constexpr size_t kLineBegin[] = {0, 2, 5, 7, 10};

uint64_t Mix(uint64_t value) {  // the finalizer of splitmix64
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

// As random as this needs, and made anew for each user at no cost.
class SplitMix64 {
 public:
  using result_type = uint64_t;
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()() { return Mix(state_ += 0x9E3779B97F4A7C15u); }

 private:
  uint64_t state_;
};

bool HasAction(int64_t sku) { return sku % 2 == 0; }
int64_t ActionOf(int64_t sku) { return 1000 + sku % 50; }

size_t Scaled(double scale, double full) {
  return std::max<size_t>(static_cast<size_t>(scale * full), 100) & ~size_t{1};
}

}  // namespace

Workload::Workload(double scale, int64_t now_ms)
    : skus_(Scaled(scale, kFullSkus)),
      limit_count_(skus_ + skus_ / 2),
      users_(Scaled(scale, kFullUsers)),
      begin_ms_(now_ms - kSpanMs + 3'600'000),
      next_order_(kFirstOrder + static_cast<int64_t>(orders())) {}

// Zipf's law with exponent 1, continuous: the rank is N^u. Popular SKUs are not neighbours.
template <typename Generator>
int64_t Workload::AnySku(Generator& random) const {
  const double u = std::uniform_real_distribution<double>(0, 1)(random);
  const auto rank = static_cast<size_t>(std::pow(static_cast<double>(skus_), u));
  return kFirstSku + static_cast<int64_t>(rank * kStride % skus_);
}

int64_t Workload::AnyUser() { return kFirstUser + static_cast<int64_t>(random_() % users_); }

void Workload::AppendLimits(size_t sku_begin, size_t sku_end, std::string& out) const {
  size_t count = 0;
  for (size_t i = sku_begin; i < sku_end; ++i) {
    count += HasAction(kFirstSku + static_cast<int64_t>(i)) ? 2 : 1;
  }
  CommandWriter writer(out);
  writer.Begin(2 + 4 * count);
  writer.Word("QUOTA.SETLIMIT");
  writer.Word(kBook);
  for (size_t i = sku_begin; i < sku_end; ++i) {
    const int64_t sku = kFirstSku + static_cast<int64_t>(i);
    writer.Word(sku);
    writer.Word(int64_t{0});
    writer.Word(static_cast<int64_t>(10 + Mix(i) % 40));
    writer.Word("30d");
    if (!HasAction(sku)) continue;
    writer.Word(sku);
    writer.Word(ActionOf(sku));
    writer.Word(static_cast<int64_t>(2 + Mix(i) % 5));
    writer.Word("14d");
  }
}

std::vector<Workload::Line> Workload::LinesOf(size_t user) const {
  SplitMix64 random(user);
  std::vector<Line> lines;
  const size_t distinct = 7 + random() % 4;
  while (lines.size() < kLineBegin[kOrdersOfAUser]) {
    const int64_t sku = lines.size() < distinct ? AnySku(random) : lines[random() % distinct].sku;
    const bool known =
        std::any_of(lines.begin(), lines.end(), [&](const Line& line) { return line.sku == sku; });
    if (known && lines.size() < distinct) continue;
    const bool in_action = HasAction(sku) && random() % 3 == 0;
    lines.push_back({sku, in_action ? ActionOf(sku) : 0, random() % 8 == 0 ? 2 : 1});
  }
  return lines;
}

void Workload::AppendOrder(size_t index, std::string& out) const {
  const size_t round = index / users_;
  const size_t user = IndexAt(index % users_);
  const std::vector<Line> lines = LinesOf(user);
  const size_t begin = kLineBegin[round];
  const size_t end = kLineBegin[round + 1];
  CommandWriter writer(out);
  writer.Begin(5 + 3 * (end - begin) + 2);
  writer.Word("QUOTA.RECORD");
  writer.Word(kBook);
  writer.Word(kFirstUser + static_cast<int64_t>(user));
  writer.Word(kFirstOrder + static_cast<int64_t>(index));
  writer.Word("ITEMS");
  for (size_t i = begin; i < end; ++i) {
    writer.Word(lines[i].sku);
    writer.Word(lines[i].action);
    writer.Word(lines[i].qty);
  }
  writer.Word("AT");
  writer.Word(OrderedAtSeconds(index));
}

size_t Workload::IndexAt(size_t place) const { return place * kStride % users_; }

int64_t Workload::OrderedAtSeconds(size_t index) const {
  const double part = static_cast<double>(index) / static_cast<double>(orders());
  return (begin_ms_ + static_cast<int64_t>(part * (kSpanMs - 3'600'000))) / 1000;
}

std::string Workload::HistoryAt(size_t place) const {
  const std::vector<Line> lines = LinesOf(IndexAt(place));
  std::string wire;
  for (size_t round = 0; round < kOrdersOfAUser; ++round) {
    const size_t index = round * users_ + place;
    for (size_t i = kLineBegin[round]; i < kLineBegin[round + 1]; ++i) {
      wire += "*6\r\n";
      for (const int64_t id :
           {kFirstOrder + static_cast<int64_t>(index), lines[i].sku, lines[i].action}) {
        const Int64Text text(id);
        wire += '$';
        AppendInt64(wire, static_cast<int64_t>(text.view().size()));
        wire += "\r\n";
        wire += text.view();
        wire += "\r\n";
      }
      constexpr int64_t kNotHeld = 0;
      for (const int64_t number : {lines[i].qty, OrderedAtSeconds(index) * 1000, kNotHeld}) {
        wire += ':';
        AppendInt64(wire, number);
        wire += "\r\n";
      }
    }
  }
  return wire;
}

void Workload::AppendLeft(std::string& out) {
  CommandWriter writer(out);
  writer.Begin(6);
  writer.Word("QUOTA.LEFT");
  writer.Word(kBook);
  writer.Word(AnyUser());
  for (int i = 0; i < 3; ++i) writer.Word(AnySku(random_));
}

void Workload::AppendBuy(std::string& out) {
  const Bought bought{AnyUser(), next_order_++, AnySku(random_)};
  CommandWriter writer(out);
  writer.Begin(11);
  writer.Word("QUOTA.BUY");
  writer.Word(kBook);
  writer.Word(bought.user);
  writer.Word(bought.order);
  writer.Word("ITEMS");
  for (const int64_t sku : {bought.sku, AnySku(random_)}) {
    writer.Word(sku);
    writer.Word(int64_t{0});
    writer.Word(int64_t{1});
  }
  if (latest_.size() == kLatestOrders) {
    latest_[random_() % kLatestOrders] = bought;
  } else {
    latest_.push_back(bought);
  }
}

void Workload::AppendReturn(std::string& out) {
  if (latest_.empty()) return AppendLeft(out);
  const Bought& bought = latest_[random_() % latest_.size()];
  CommandWriter writer(out);
  writer.Begin(7);
  writer.Word("QUOTA.RETURN");
  writer.Word(kBook);
  writer.Word(bought.user);
  writer.Word(bought.order);
  writer.Word("ITEMS");
  writer.Word(bought.sku);
  writer.Word(int64_t{1});
}

void Workload::AppendMixed(std::string& out) {
  const uint64_t kind = random_() % 100;
  if (kind < 90) return AppendLeft(out);
  if (kind < 98) return AppendBuy(out);
  AppendReturn(out);
}

}  // namespace tally::bench
