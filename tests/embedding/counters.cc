// What a program that embeds tally::core does: it decides, counts, saves and loads, with its own
// idea of the time, and with no server.
#include <tally/engine/audiences.h>
#include <tally/engine/hit_counters.h>
#include <tally/engine/limits.h>
#include <tally/engine/quota_books.h>
#include <tally/limit/rule_words.h>
#include <tally/snapshot/engine_stream.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace tally;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

// May this user send a code now? Rules as a program writes them, and as people do.
bool MaySend(Place place, std::string_view user) {
  const LimitRule of_user[] = {LimitRule::Fixed(2, 600'000), LimitRule::Sliding(5, 86'400'000)};
  const std::string_view words[] = {"CALENDAR", "3", "day", "TZ", "UTC"};
  std::string error;
  RuleList of_all;
  const RuleParser parser(place.engine.zones(), place.engine.policies());
  Expect(parser.ReadPlain(WordReader(words, WordOrigin::kCaller, error), of_all), error.c_str());
  const KeyRules keys[] = {{user, of_user}, {"everybody", of_all.rules}};
  return Limits(place)
      .Take({.keys = keys, .time = EventInstants::Now(place.now_ms)})
      .decision.allowed;
}

QuotaBook::BuyResult Buy(Place place, std::string_view order, int32_t quantity) {
  const QuotaItem items[] = {{.sku = 4711, .qty = quantity}};
  QuotaBook::BuyResult result;
  QuotaLefts left;
  QuotaBooks(place).Buy({"shop", place.now_ms},
                        {.user = QuotaId::Text("ann"),
                         .order = QuotaId::Text(order),
                         .items = items,
                         .ts_ms = place.now_ms,
                         .if_left = true},
                        result, left);
  return result;
}

int64_t HitsOfADay(Place place, std::string_view key) {
  std::optional<int64_t> hits;
  HitCounters(place).Add(key, {.window_ms = 86'400'000, .time = EventInstants::Now(place.now_ms)},
                         hits);
  return hits.value_or(-1);
}

}  // namespace

int main() {
  Engine engine;
  Place place{.engine = engine, .now_ms = 1'795'230'400'000};
  Expect(MaySend(place, "ann") && MaySend(place, "ann") && !MaySend(place, "ann"), "ann: 2 codes");
  Expect(MaySend(place, "bob") && !MaySend(place, "cid"), "everybody: 3 codes");
  Expect(HitsOfADay(place, "good morning") == 1, "the first hit");
  const std::string_view ids[] = {"ann", "bob"};
  Expect(Audiences(place).Touch("page", ids, EventInstants::Now(place.now_ms)).online == 2,
         "2 online");
  const QuotaLimitSpec limits[] = {{.sku = 4711, .limit = 2, .window_ms = 2'592'000'000}};
  QuotaBooks(place).SetLimits({"shop", place.now_ms}, limits);
  Expect(Buy(place, "order-1", 2).applied && !Buy(place, "order-2", 1).applied, "2 of 4711");

  std::string saved;
  const auto sink = [&saved](std::string_view bytes) {
    saved += bytes;
    return absl::OkStatus();
  };
  Expect(SaveEngine(engine, sink).ok(), "saved");
  Engine again;
  Expect(LoadEngine(again, saved).ok(), "loaded");
  Place later{.engine = again, .now_ms = place.now_ms + 1'000};
  Expect(!MaySend(later, "cid") && HitsOfADay(later, "good morning") == 2, "counted on");
  KeyOutcome outcome;
  Expect(Audiences(later).Find("page", outcome)->Online(later.now_ms) == 2, "still online");
  Expect(!Buy(later, "order-2", 1).applied, "still bought");
  std::puts("embedded");
}
