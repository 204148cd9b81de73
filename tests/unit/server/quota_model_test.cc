// The QUOTA commands against lists of purchases that are recomputed for each answer, while the
// server crashes, stops, starts at a later time and rewrites its log.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "random_seed.h"
#include "tests/unit/core/quota_naive_book.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::quota_model_test {
namespace {

using test::FakeFileSystem;
using test::Lefts;
using test::NaiveBook;
using test::SeededRandom;

constexpr int64_t kMinRetention = 100'000;
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
// So many others that the book is saved in slices. What they bought never changes.
constexpr int64_t kFirstOther = 1000;
constexpr int kOthers = 1200;

// Words of a line have no blanks.
const std::string kManyBytes(kMaxQuotaIdBytes, '7');
QuotaId Text(std::string_view text) { return QuotaId::Text(text); }

const std::vector<QuotaId> kUsers = {1, 2, kMin, kMax, Text("01"), Text("a\r\n\xff")};
const std::vector<QuotaId> kSkus = {0, 5, kMin, kMax, Text("05"), Text(kManyBytes)};
const std::vector<QuotaId> kActions = {0, 0, 1, 7, kMax, Text("-0"), Text("9223372036854775808")};
const std::vector<QuotaId> kOrders = {1, 2, 3, 4, 5, 6, Text("+1"), Text("006"), Text(kManyBytes)};
const std::vector<int64_t> kWindows = {1, 1000, 30'000, 99'999, 100'000, 150'000, 300'000};

// An id as it is written, and as it is replied.
std::string Word(const QuotaId& id) {
  return id.is_text() ? std::string(id.text()) : std::to_string(id.number());
}
std::string Show(const QuotaId& id) {
  std::string quoted;
  AppendQuoted(quoted, Word(id));
  return quoted;
}

std::string Show(const Lefts& lefts) {
  std::string text = "[";
  for (const auto& [action, left] : lefts) {
    StrAppend(text, text.size() > 1 ? " " : "", "[", Show(action), " :", left, "]");
  }
  return text + "]";
}

// An instant as an argument of AT.
std::string At(int64_t unix_ms) {
  const std::string millis = std::to_string(1000 + unix_ms % 1000);
  return StrCat(" AT ", unix_ms / 1000, ".", millis.substr(1));
}

class Shop {
 public:
  explicit Shop(SeededRandom& random) : random_(random) {
    config_.quota_retention_ms = kMinRetention;
    Start();
    for (int other = 0; other < kOthers; ++other) {
      server_->Run(StrCat("QUOTA.BUY b ", kFirstOther + other, " 1 ITEMS 5 0 1"));
    }
    const QuotaItem item{5, 0, 1};
    model_.Tick(now_ms_);
    model_.Buy({kFirstOther, 1, {&item, 1}, now_ms_});
  }

  void Step() {
    if (!random_.OneIn(3)) {
      now_ms_ += random_.Between(0, random_.OneIn(20) ? 200'000 : 3000);
      server_->SetClock(now_ms_);
    }
    model_.Tick(now_ms_);
    switch (random_.Below(16)) {
      case 0:
        return SetLimits();
      case 1:
        return DelLimits();
      case 2:
      case 3:
      case 4:
        return Return();
      case 5:
        return Reset();
      case 6:
        return Disturb();
      case 7:
        return Confirm();
      default:
        return Buy();
    }
  }

  void Compare() {
    model_.Tick(now_ms_);
    for (const QuotaId& user : kUsers) {
      Expect(StrCat("QUOTA.HISTORY b ", Word(user)), History(user));
      std::string all;
      for (const auto& [sku, lefts] : model_.LeftAll(user, QuotaActions())) {
        StrAppend(all, all.empty() ? "" : " ", "[", Show(sku), " ", Show(lefts), "]");
      }
      Expect(StrCat("QUOTA.LEFTBYUSER b ", Word(user)), StrCat("[[", all, "]]"));
      std::string asked;
      std::string lefts;
      const int64_t at_ms = now_ms_ + random_.Between(-50'000, 50'000);
      const int64_t counted_ms = std::min(at_ms, now_ms_);
      for (uint64_t i = 1 + random_.Below(12); i > 0; --i) {
        const QuotaId sku = Pick(kSkus);
        StrAppend(asked, " ", Word(sku));
        StrAppend(lefts, lefts.empty() ? "" : " ", Show(model_.Left(user, sku, counted_ms)));
      }
      Expect(StrCat("QUOTA.LEFT b ", Word(user), asked, At(at_ms)), StrCat("[", lefts, "]"));
    }
    for (const QuotaId& sku : kSkus) {
      std::string limits;
      for (const QuotaLimit& limit : model_.Limits(sku)) {
        StrAppend(limits, limits.empty() ? "" : " ", "[", Show(limit.action), " :", limit.limit,
                  " :", limit.window_ms, " :", limit.set_at_ms, "]");
      }
      Expect(StrCat("QUOTA.LIMITS b ", Word(sku)), StrCat("[[", limits, "]]"));
    }
    // The others have all bought the same.
    Expect(StrCat("QUOTA.HISTORY b ", kFirstOther + random_.Below(kOthers)), History(kFirstOther));
  }

  int restarts() const { return restarts_; }

 private:
  template <typename Value>
  Value Pick(const std::vector<Value>& from) {
    return from[random_.Below(from.size())];
  }

  std::string History(const QuotaId& user) const {
    std::string history;
    for (const QuotaPurchase& line : model_.History(user)) {
      StrAppend(history, history.empty() ? "" : " ", "[", Show(line.order), " ", Show(line.sku),
                " ", Show(line.action), " :", line.qty, " :", line.ts_ms, " :", line.held_until_ms,
                "]");
    }
    return StrCat("[", history, "]");
  }

  void Expect(const std::string& line, const std::string& reply) {
    INFO(line);
    REQUIRE(server_->Run(line) == reply);
  }

  void Start() { server_ = std::make_unique<DurableServer>(files_, config_, now_ms_); }

  void Disturb() {
    switch (random_.Below(6)) {
      case 0:
        return Restart();
      case 1:
        if (!server_->rewriting()) server_->Run("BGREWRITEAOF");
        return;
      case 2:
        return server_->Reload();
      case 3:
        return RenameAndCopy();
      default:
        return server_->engine().SweepSome(now_ms_, [] { return true; });
    }
  }

  // A book without limits of which all purchases are forgotten is no key any more.
  void RenameAndCopy() {
    if (server_->Run("EXISTS b") == ":0") {
      REQUIRE(IsEmpty());
      return;
    }
    Expect("RENAME b c", "+OK");
    Expect("COPY c b", ":1");
    Expect("DEL c", ":1");
  }

  bool IsEmpty() const {
    std::vector<QuotaId> users = kUsers;
    users.emplace_back(kFirstOther);
    return std::ranges::all_of(kSkus,
                               [&](const auto& sku) { return model_.Limits(sku).empty(); }) &&
           std::ranges::all_of(users,
                               [&](const auto& user) { return model_.History(user).empty(); });
  }

  void Restart() {
    ++restarts_;
    const bool crash = random_.OneIn(2);
    if (!crash) server_->Close();
    server_ = nullptr;
    files_.Restart(
        random_.OneIn(2) ? FakeFileSystem::Loss::kProcessOnly : FakeFileSystem::Loss::kDrop,
        random_);
    now_ms_ += random_.Between(0, 20'000);
    Start();
  }

  void SetLimits() {
    std::vector<QuotaLimitSpec> specs;
    std::string line = "QUOTA.SETLIMIT b";
    for (size_t i = 1 + random_.Below(3); i > 0; --i) {
      const QuotaLimitSpec& spec = specs.emplace_back(QuotaLimitSpec{
          Pick(kSkus), Pick(kActions), static_cast<int32_t>(random_.Below(40)), Pick(kWindows)});
      StrAppend(line, " ", Word(spec.sku), " ", Word(spec.action), " ", spec.limit, " ",
                spec.window_ms, "ms");
    }
    Expect(line, StrCat(":", specs.size()));
    model_.SetLimits(specs);
  }

  void DelLimits() {
    const std::vector<QuotaId> skus = {Pick(kSkus), Pick(kSkus)};
    std::string line = StrCat("QUOTA.DELLIMIT b ", Word(skus[0]), " ", Word(skus[1]));
    QuotaActions actions;
    if (random_.OneIn(2)) {
      const std::vector<QuotaId> listed = {Pick(kActions), Pick(kActions)};
      StrAppend(line, " ACTIONS ", Word(listed[0]), " ", Word(listed[1]));
      actions = QuotaActions(listed);
    }
    Expect(line, StrCat(":", model_.DelLimits(skus, actions)));
  }

  void Buy() {
    std::vector<QuotaItem> items;
    QuotaOrder order{Pick(kUsers), Pick(kOrders), {}, now_ms_};
    order.if_left = random_.OneIn(2);
    std::string line = StrCat(order.if_left ? "QUOTA.BUY b " : "QUOTA.RECORD b ", Word(order.user),
                              " ", Word(order.order), " ITEMS");
    for (size_t i = 1 + random_.Below(3); i > 0; --i) {
      const QuotaItem& item = items.emplace_back(
          QuotaItem{Pick(kSkus), Pick(kActions), static_cast<int32_t>(1 + random_.Below(12))});
      StrAppend(line, " ", Word(item.sku), " ", Word(item.action), " ", item.qty);
    }
    order.items = items;
    if (random_.OneIn(2)) {
      order.ts_ms += random_.Between(random_.OneIn(4) ? -320'000 : -120'000, 40'000);
      line += At(order.ts_ms);
      order.ts_ms = std::min(order.ts_ms, now_ms_);
    }
    if ((order.once = random_.OneIn(3))) line += " ONCE";
    if (random_.OneIn(4)) {
      order.hold_ms = random_.Between(1, random_.OneIn(4) ? 300'000 : 20'000);
      StrAppend(line, " HOLD ", order.hold_ms, "ms");
      held_user_ = order.user;
      held_order_ = order.order;
    }
    const auto [applied, item] = model_.Buy(order);
    std::string lefts;
    for (const QuotaItem& each : items) {
      StrAppend(lefts, lefts.empty() ? "" : " ", Show(model_.Left(order.user, each.sku, now_ms_)));
    }
    Expect(line, StrCat("[:", applied ? 1 : 0, " :", item, " [", lefts, "]]"));
  }

  // Mostly what was held last.
  void Confirm() {
    const bool last = !random_.OneIn(3);
    const QuotaId user = last ? held_user_ : Pick(kUsers);
    const QuotaId order = last ? held_order_ : Pick(kOrders);
    Expect(StrCat("QUOTA.CONFIRM b ", Word(user), " ", Word(order)),
           model_.Confirm(user, order) ? ":1" : ":0");
  }

  void Return() {
    std::vector<QuotaReturnItem> items;
    QuotaReturn request{Pick(kUsers), Pick(kOrders), {}, now_ms_ / 20'000 * 20'000};
    std::string line =
        StrCat("QUOTA.RETURN b ", Word(request.user), " ", Word(request.order), " ITEMS");
    for (size_t i = 1 + random_.Below(3); i > 0; --i) {
      const QuotaReturnItem& item = items.emplace_back(
          QuotaReturnItem{Pick(kSkus), static_cast<int32_t>(1 + random_.Below(10))});
      StrAppend(line, " ", Word(item.sku), " ", item.qty);
    }
    request.items = items;
    line += At(request.ts_ms);
    if ((request.once = random_.OneIn(2))) line += " ONCE";
    std::string credited;
    for (const int32_t qty : model_.Return(request)) {
      StrAppend(credited, credited.empty() ? ":" : " :", qty);
    }
    Expect(line, StrCat("[", credited, "]"));
  }

  void Reset() {
    const QuotaId user = Pick(kUsers);
    std::string line = StrCat("QUOTA.RESET b ", Word(user));
    std::vector<QuotaId> listed;
    if (!random_.OneIn(3)) {
      listed = {Pick(kActions), Pick(kActions)};
      StrAppend(line, " ACTIONS ", Word(listed[0]), " ", Word(listed[1]));
    }
    Expect(line, model_.Reset(user, listed) ? ":1" : ":0");
  }

  SeededRandom& random_;
  QuotaId held_user_;
  QuotaId held_order_;
  FakeFileSystem files_;
  Config config_;
  int64_t now_ms_ = 1'760'000'000'000;
  std::unique_ptr<DurableServer> server_;
  NaiveBook model_{kMinRetention};
  int restarts_ = 0;
};

TEST_CASE("QUOTA: answers as lists of purchases do, whatever becomes of the server") {
  SeededRandom random;
  INFO("seed " << random.seed());
  int restarts = 0;
  for (int run = 0; run < 3; ++run) {
    Shop shop(random);
    for (int step = 0; step < 300; ++step) {
      shop.Step();
      if (step % 4 == 0) shop.Compare();
    }
    restarts += shop.restarts();
  }
  REQUIRE(restarts > 0);
}

}  // namespace
}  // namespace tally::server::quota_model_test
