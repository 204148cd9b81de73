// The quota book against lists of purchases that are recomputed from scratch for each answer.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/quota/quota_book.h"
#include "quota_fixture.h"
#include "quota_naive_book.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::quota_model_test {
namespace {

using test::Lefts;
using test::NaiveBook;

constexpr int64_t kMinRetention = 100'000;
constexpr int64_t kBig = std::numeric_limits<int64_t>::max();

// Texts that are all but an integer, with what a reply must not be confused by, and the longest.
const QuotaId kSeven = QuotaId::Text("007");
const QuotaId kBlank = QuotaId::Text(" 7");
const QuotaId kEmpty = QuotaId::Text("");
const QuotaId kTooBig = QuotaId::Text("9223372036854775808");
const QuotaId kBinary = QuotaId::Text({"\0\r\n\xff\0", 5});
const QuotaId kNul = QuotaId::Text({"\0", 1});
const std::string kManyBytes(kMaxQuotaIdBytes, 'x');
const QuotaId kLong = QuotaId::Text(kManyBytes);

const std::vector<QuotaId> kUsers = {1,      2,      -kBig - 1, kBig,    7,
                                     kSeven, kEmpty, kNul,      kBinary, kLong};
const std::vector<QuotaId> kSkus = {0, 7, -kBig - 1, kBig, kSeven, kBlank, kEmpty, kBinary, kLong};
const std::vector<QuotaId> kActions = {0,      0,       1,      7,     kBig, -3,
                                       kSeven, kTooBig, kEmpty, kLong, 101,  119};
// With these a SKU has more limits than are visited for each purchase.
constexpr int64_t kFirstOfMany = 100;
constexpr int64_t kMany = 20;
const std::vector<QuotaId> kOrders = {1, 2, 3, 7, -kBig - 1, kSeven, kEmpty, kNul, kBinary, kLong};
const std::vector<int64_t> kWindows = {1, 1000, 30'000, 99'999, 100'000, 150'000, 300'000};

// Numbers and texts, so many that an order is in few of a user's chunks and in some of them twice.
const std::vector<std::string> kOrderTexts = [] {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) texts.push_back("order " + std::to_string(i));
  return texts;
}();
const std::vector<QuotaId> kManyOrders = [] {
  std::vector<QuotaId> orders(kOrders);
  for (int64_t i = 100; i < 200; ++i) orders.emplace_back(i);
  for (const std::string& text : kOrderTexts) orders.push_back(QuotaId::Text(text));
  return orders;
}();

// So many that their limits are in parts. Some are texts.
const std::vector<std::string> kActionTexts = [] {
  std::vector<std::string> texts;
  for (int i = 0; i < 120; ++i) texts.push_back("action " + std::to_string(i));
  return texts;
}();
const std::vector<QuotaId> kHundredsOfActions = [] {
  std::vector<QuotaId> actions(kActions);
  for (int64_t i = -150; i < 150; ++i) actions.emplace_back(i * 3);
  for (const std::string& text : kActionTexts) actions.push_back(QuotaId::Text(text));
  return actions;
}();

// Whose purchases a walk is about: `most_items` in an order.
struct Traffic {
  std::vector<QuotaId> users = kUsers;
  std::vector<QuotaId> orders = kOrders;
  size_t most_items = 3;
  size_t most_returns = 1;  // at a time
  size_t most_qty = 11;
  size_t holds = 4;  // one order of so many is held
  std::vector<QuotaId> actions = kActions;
  size_t most_limits = 3;  // set or deleted at a time
};

class Walk {
 public:
  explicit Walk(test::SeededRandom& random, Traffic traffic = {})
      : random_(random),
        traffic_(std::move(traffic)),
        book_(random.Next(), kMinRetention),
        model_(kMinRetention) {}

  // What random steps would reach only by chance. The clock stands still, so nothing is forgotten
  // meanwhile.
  void BuyUntil(size_t purchases) {
    model_.Tick(now_ms_);
    while (book_.stats().purchases <= purchases) Buy();
  }
  void SetLimitsUntil(size_t limits) {
    model_.Tick(now_ms_);
    while (book_.stats().limits <= limits) SetLimits();
  }

  void Step() {
    if (!random_.OneIn(3)) now_ms_ += random_.Between(0, random_.OneIn(20) ? 200'000 : 3000);
    model_.Tick(now_ms_);
    if (random_.OneIn(8)) return Confirm();
    switch (random_.Below(16)) {
      case 0:
      case 1:
        return SetLimits();
      case 2:
        return DelLimits();
      case 3:
      case 4:
      case 5:
        for (size_t i = 1 + random_.Below(traffic_.most_returns); i > 0; --i) Return();
        return;
      case 6:
        return Reset();
      case 7:
        book_.ExpireSome(now_ms_, random_.Below(20));
        return;
      case 8:
        if (random_.OneIn(4)) Reload();
        return;
      default:
        return Buy();
    }
  }

  void Compare() {
    model_.Tick(now_ms_);
    for (const QuotaId& user : traffic_.users) {
      REQUIRE(test::HistoryOf(book_, user, now_ms_) == model_.History(user));
      const QuotaActions actions =
          random_.OneIn(2) ? QuotaActions() : QuotaActions({Pick(kActions), Pick(kActions)});
      REQUIRE(test::LeftAllOf(book_, user, actions, now_ms_) == model_.LeftAll(user, actions));

      const std::vector<QuotaId> skus = {Pick(kSkus), Pick(kSkus), Pick(kSkus), 99,
                                         QuotaId::Text("99 ")};
      size_t next = 0;
      book_.Uses(user, skus, now_ms_, [&](std::span<const QuotaUse> uses) {
        REQUIRE(std::vector(uses.begin(), uses.end()) == model_.Uses(user, skus[next++]));
      });
      REQUIRE(next == skus.size());
      const int64_t at_ms = now_ms_ + random_.Between(-50'000, 50'000);
      QuotaLefts lefts;
      book_.Left(user, skus, at_ms, now_ms_, lefts);
      for (size_t i = 0; i < skus.size(); ++i) {
        REQUIRE(test::LeftsOf(lefts, i) == model_.Left(user, skus[i], at_ms));
      }
    }
    for (const QuotaId& sku : kSkus) REQUIRE(test::LimitsOf(book_, sku) == model_.Limits(sku));
    CompareUsersTogether();
  }

  // Some users are named twice, and some have bought nothing.
  void CompareUsersTogether() {
    std::vector<QuotaId> users;
    for (size_t i = random_.Below(12); i > 0; --i) users.push_back(Pick(traffic_.users));
    users.emplace_back(99);
    QuotaUserLefts left;
    REQUIRE(book_.LeftAll(users, QuotaActions(), now_ms_, left));
    REQUIRE(left.users.size() == users.size());
    for (size_t i = 0; i < users.size(); ++i) {
      std::map<QuotaId, Lefts> all;
      for (size_t at = left.users[i].begin; at < left.users[i].end; ++at) {
        all[left.lefts.sku(at)] = test::LeftsOf(left.lefts, at);
      }
      REQUIRE(all == model_.LeftAll(users[i], QuotaActions()));
    }
  }

  // A complete round frees exactly what the model has thrown away.
  void CompareCounts() {
    model_.Tick(now_ms_);
    book_.ExpireSome(now_ms_, 1'000'000);
    book_.ExpireSome(now_ms_, 1'000'000);
    size_t users = 0;
    size_t purchases = 0;
    for (const QuotaId& user : traffic_.users) {
      const size_t lines = model_.History(user).size();
      purchases += lines;
      users += lines > 0;
    }
    REQUIRE(book_.stats().users == users);
    REQUIRE(book_.stats().purchases == purchases);
  }

 private:
  template <typename Value>
  Value Pick(const std::vector<Value>& from) {
    return from[random_.Below(from.size())];
  }

  int64_t EventTime() {
    if (random_.OneIn(2)) return now_ms_;
    return now_ms_ + random_.Between(random_.OneIn(4) ? -320'000 : -120'000, 40'000);
  }

  // The same one often, so that ONCE has something to recognise.
  int64_t ReturnTime() {
    const int64_t now_ms = now_ms_ / 20'000 * 20'000;
    return now_ms + static_cast<int64_t>(random_.Below(traffic_.most_returns));
  }

  // Also for longer than its lines are kept.
  int64_t HoldTime() {
    if (!random_.OneIn(traffic_.holds)) return 0;
    return random_.OneIn(6) ? random_.Between(100'000, 500'000) : random_.Between(1, 60'000);
  }

  size_t HeldLines(const QuotaId& user) const {
    size_t held = 0;
    book_.ForEachPurchase(
        user, now_ms_, [&](const QuotaPurchase& line) { held += line.held_until_ms != 0 ? 1 : 0; });
    return held;
  }

  // Mostly what was held last.
  void Confirm() {
    const bool last = !random_.OneIn(3);
    const QuotaId user = last ? held_user_ : Pick(traffic_.users);
    const QuotaId order = last ? held_order_ : Pick(traffic_.orders);
    const size_t held = HeldLines(user);
    const QuotaBook::ConfirmResult result = book_.Confirm(user, order, now_ms_);
    REQUIRE(result.bought == model_.Confirm(user, order));
    REQUIRE(result.changed == (HeldLines(user) < held));
  }

  void SetLimits() {
    std::vector<QuotaLimitSpec> specs;
    const QuotaId often = Pick(kSkus);
    for (size_t i = 1 + random_.Below(traffic_.most_limits); i > 0; --i) {
      specs.push_back({random_.OneIn(3) ? Pick(kSkus) : often, Pick(traffic_.actions),
                       static_cast<int32_t>(random_.Below(40)), Pick(kWindows)});
    }
    if (random_.OneIn(10)) {
      const QuotaId sku = Pick(kSkus);
      for (int64_t action = kFirstOfMany; action < kFirstOfMany + kMany; ++action) {
        specs.push_back({sku, action, static_cast<int32_t>(random_.Below(40)), Pick(kWindows)});
      }
    }
    book_.SetLimits(specs, now_ms_);
    model_.SetLimits(specs);
  }

  void DelLimits() {
    const std::vector<QuotaId> skus = {Pick(kSkus), Pick(kSkus)};
    std::vector<QuotaId> listed;
    for (size_t i = 1 + random_.Below(traffic_.most_limits); i > 0; --i)
      listed.push_back(Pick(traffic_.actions));
    // Of hundreds of limits, not all are deleted so often.
    const bool all = random_.OneIn(traffic_.most_limits > 3 ? 8 : 2);
    const QuotaActions actions = all ? QuotaActions() : QuotaActions(listed);
    REQUIRE(book_.DelLimits(skus, actions, now_ms_) == model_.DelLimits(skus, actions));
  }

  void Buy() {
    std::vector<QuotaItem> items;
    for (size_t i = 1 + random_.Below(traffic_.most_items); i > 0; --i) {
      items.push_back({Pick(kSkus), Pick(traffic_.actions),
                       static_cast<int32_t>(random_.Below(traffic_.most_qty + 1))});
    }
    const QuotaOrder order{
        Pick(traffic_.users), Pick(traffic_.orders), items,     EventTime(), random_.OneIn(2),
        random_.OneIn(3),     !random_.OneIn(8),     HoldTime()};
    if (order.hold_ms > 0) {
      held_user_ = order.user;
      held_order_ = order.order;
    }
    QuotaLefts lefts;
    const QuotaBook::BuyResult result = book_.Buy(order, now_ms_, lefts);
    const auto [applied, item] = model_.Buy(order);
    REQUIRE(result.applied == applied);
    REQUIRE(result.item == item);
    REQUIRE(lefts.size() == (order.is_answered ? items.size() : 0));
    for (size_t i = 0; i < lefts.size(); ++i) {
      REQUIRE(test::LeftsOf(lefts, i) == model_.Left(order.user, items[i].sku, now_ms_));
    }
  }

  void Return() {
    std::vector<QuotaReturnItem> items;
    for (size_t i = 1 + random_.Below(3); i > 0; --i) {
      items.push_back({Pick(kSkus), static_cast<int32_t>(random_.Below(10))});
    }
    const QuotaReturn request{Pick(traffic_.users), Pick(traffic_.orders), items, ReturnTime(),
                              random_.OneIn(2)};
    std::vector<int32_t> credited;
    const bool changed = book_.Return(request, now_ms_, credited);
    REQUIRE(credited == model_.Return(request));
    REQUIRE(changed ==
            std::any_of(credited.begin(), credited.end(), [](int32_t q) { return q > 0; }));
  }

  void Reset() {
    std::vector<QuotaId> users;
    for (size_t i = 1 + random_.Below(3); i > 0; --i) users.push_back(Pick(traffic_.users));
    const std::vector<QuotaId> listed =
        random_.OneIn(3) ? std::vector<QuotaId>() : std::vector{Pick(kActions), Pick(kActions)};
    const QuotaActions actions = listed.empty() ? QuotaActions() : QuotaActions(listed);
    size_t reset = 0;
    for (const QuotaId& user : users) reset += model_.Reset(user, listed) ? 1 : 0;
    REQUIRE(book_.Reset(users, actions, now_ms_) == reset);
  }

  void Reload() {
    if (random_.OneIn(2)) {
      book_ = book_.Clone();
      return;
    }
    QuotaBook loaded(random_.Next(), kMinRetention);
    for (const std::string& run : test::SaveAll(book_, random_.Below(2000))) {
      REQUIRE(loaded.Load(run));
    }
    REQUIRE(loaded.stats().limits == book_.stats().limits);
    REQUIRE(loaded.stats().purchases == book_.stats().purchases);
    book_ = std::move(loaded);
  }

  test::SeededRandom& random_;
  QuotaId held_user_;
  QuotaId held_order_;
  Traffic traffic_;
  int64_t now_ms_ = 1'760'000'000'000;
  QuotaBook book_;
  NaiveBook model_;
};

TEST_CASE("a quota book answers as lists of purchases do") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int walk = 0; walk < 12; ++walk) {
    Walk one(random);
    for (int step = 0; step < 400; ++step) {
      one.Step();
      if (step % 4 == 0) one.Compare();
      if (step % 50 == 49) one.CompareCounts();
    }
  }
}

// Users grow past every size at which a book stores them otherwise, and shrink again.
TEST_CASE("a quota book answers for users of many purchases as lists of purchases do") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int walk = 0; walk < 4; ++walk) {
    const bool large = walk % 2 == 0;
    Walk one(random, {{7, kBinary}, kManyOrders, large ? test::Scaled(60) : 12});
    if (large) one.BuyUntil(500);
    for (int step = 0; step < 400; ++step) {
      one.Step();
      if (step % 8 == 0) one.Compare();
      if (step % 50 == 49) one.CompareCounts();
    }
  }
}

// Of few purchases, so that only the returns make their user large.
TEST_CASE("a quota book answers for orders of many returns as lists of purchases do") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int walk = 0; walk < 6; ++walk) {
    Walk one(random, {{7, kBinary}, kOrders, 2, 60, 3000});
    for (int step = 0; step < 300; ++step) {
      one.Step();
      if (step % 8 == 0) one.Compare();
      if (step % 50 == 49) one.CompareCounts();
    }
  }
}

// SKUs get more limits than one record holds, and lose them again.
TEST_CASE("a quota book answers for SKUs of hundreds of limits as lists of purchases do") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int walk = 0; walk < 4; ++walk) {
    const bool large = walk % 2 == 0;
    Traffic traffic{{7, kBinary}, kOrders};
    traffic.actions = kHundredsOfActions;
    traffic.most_limits = large ? 300 : 80;
    Walk one(random, traffic);
    if (large) one.SetLimitsUntil(1000);
    for (int step = 0; step < 250; ++step) {
      one.Step();
      if (step % 8 == 0) one.Compare();
      if (step % 50 == 49) one.CompareCounts();
    }
  }
}

}  // namespace
}  // namespace tally::quota_model_test
