// Streams of all commands of reservations through RESP, against a model that is written from what
// the pages say: a list of hits and of holds for each key. The rules are SLIDING, windows laid end
// to end, and CONCURRENT, whose hits the model can list; core's model has all others.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "forgotten_ids.h"
#include "random_seed.h"
#include "scale.h"
#include "server/command_harness.h"
#include "server/replay.h"

namespace tally::server::reservation_stream_test {
namespace {

constexpr int64_t kPeriod = 60'000;
constexpr int64_t kSlidingLimit = 9;
constexpr int64_t kFixedLimit = 7;
constexpr int64_t kConcurrentLimit = 5;
constexpr std::string_view kRules = "SLIDING 9 1m FIXED 7 1m FROM 0 CONCURRENT 5";
constexpr std::string_view kTakeRules = "SLIDING 9 1m FIXED 7 1m FROM 0";
constexpr std::array<std::string_view, 3> kKeys{"a", "b", "c"};

struct Hold {
  enum State { kHeld = 1, kCommitted, kExpired, kCancelled };
  State state = kHeld;
  std::map<int64_t, int64_t> parts;  // what is held of each instant
  int64_t deadline = 0;
  int64_t forget_at = 0;
  int64_t token = 0;
  int64_t held = 0;
  int64_t counted = 0;
  std::vector<size_t> keys;

  int64_t cost() const {
    int64_t sum = 0;
    for (const auto& [at, cost] : parts) sum += cost;
    return sum;
  }
};

struct Key {
  std::map<int64_t, int64_t> hits;  // also what is held
  std::map<std::string, Hold> holds;
  int64_t last_token = 0;

  void Settle(int64_t now) {
    for (auto& [id, hold] : holds) {
      if (hold.state != Hold::kHeld || hold.deadline > now) continue;
      hold.held = hold.cost();
      GiveBack(hold, hold.held);
      End(hold, Hold::kExpired);
    }
    std::erase_if(holds, [now](const auto& one) {
      return one.second.state != Hold::kHeld && one.second.forget_at <= now;
    });
    if (holds.empty()) last_token = 0;
  }
  static void End(Hold& hold, Hold::State state) {
    hold.state = state;
    hold.forget_at = tally::test::Forgotten(hold.deadline);
    hold.parts.clear();
  }
  // The newest first.
  void GiveBack(Hold& hold, int64_t amount) {
    for (auto part = hold.parts.rbegin(); part != hold.parts.rend(); ++part) {
      const int64_t taken = std::min(amount, part->second);
      part->second -= taken;
      hits[part->first] -= taken;
      amount -= taken;
    }
  }
  int64_t Sliding(int64_t now) const { return After(now - kPeriod); }
  int64_t Fixed(int64_t now) const { return After(now - now % kPeriod - 1); }
  int64_t After(int64_t after) const {
    int64_t sum = 0;
    for (auto at = hits.upper_bound(after); at != hits.end(); ++at) sum += at->second;
    return sum;
  }
  int64_t Concurrent() const {
    int64_t sum = 0;
    for (const auto& [id, hold] : holds) sum += hold.cost();
    return sum;
  }
  bool Fits(int64_t cost, int64_t now, bool holds_it) const {
    return cost <= kSlidingLimit - Sliding(now) && cost <= kFixedLimit - Fixed(now) &&
           (!holds_it || cost <= kConcurrentLimit - Concurrent());
  }
};

class Stream {
 public:
  Stream() : server_(std::make_unique<CommandHarness>()) {}

  void Step() {
    if (random_.OneIn(2)) Pass();
    for (Key& key : keys_) key.Settle(now());
    if (random_.OneIn(200)) Restart();
    switch (random_.Below(12)) {
      case 0:
        return Reset();
      case 1:
      case 2:
        return Take();
      case 3:
      case 4:
        return Cancel();
      case 5:
      case 6:
        return Extend();
      case 7:
      case 8:
        return Commit();
      default:
        return Reserve();
    }
  }
  uint64_t seed() const { return random_.seed(); }
  int settled() const { return settled_; }

 private:
  int64_t now() { return server_->now(); }

  void Pass() {
    int64_t ms = random_.Between(0, random_.OneIn(20) ? 400'000 : 9'000);
    for (const Key& key : keys_) {
      for (const auto& [id, hold] : key.holds) {
        // At a deadline, or just before.
        const bool soon = hold.state == Hold::kHeld && hold.deadline > now();
        if (soon && random_.OneIn(8)) ms = hold.deadline - now() - random_.Between(0, 1);
      }
    }
    server_->Advance(ms);
  }

  // The log is replayed by a server that starts now.
  void Restart() {
    for (const std::string& effect : server_->Effects()) log_.push_back(effect);
    auto next = std::make_unique<CommandHarness>();
    ReplayInto(*next, log_, now());
    server_ = std::move(next);
    RequireAll();
  }

  std::string RandomId() { return StrCat("id:", random_.Below(40)); }
  // Mostly a hold that there is.
  std::pair<std::string, std::vector<size_t>> RandomTarget() {
    std::pair<std::string, std::vector<size_t>> target{RandomId(), RandomKeys()};
    if (random_.OneIn(4)) return target;
    for (const Key& key : keys_) {
      for (const auto& [id, hold] : key.holds) {
        if (hold.state == Hold::kHeld && random_.OneIn(3)) target = {id, hold.keys};
      }
    }
    return target;
  }
  std::vector<size_t> RandomKeys() {
    const size_t first = random_.Below(kKeys.size());
    if (!random_.OneIn(3)) return {first};
    return {first, (first + 1) % kKeys.size()};
  }
  static std::string Names(const std::vector<size_t>& keys, std::string_view rules) {
    std::string text;
    for (const size_t key : keys) {
      StrAppend(text, text.empty() ? "" : rules.empty() ? " " : " AND ", kKeys[key]);
      if (!rules.empty()) StrAppend(text, " ", rules);
    }
    return text;
  }

  std::string Run(const std::string& words) {
    last_ = words;
    const std::string reply = server_->Run(words);
    StrAppend(last_, " -> ", reply);
    return reply;
  }
  static bool Allowed(const std::string& reply) { return reply.substr(0, 3) == "[:1"; }

  // Each key's hold of the id; null where there is none.
  std::vector<Hold*> Find(const std::vector<size_t>& keys, const std::string& id) {
    std::vector<Hold*> found;
    for (const size_t key : keys) {
      const auto place = keys_[key].holds.find(id);
      found.push_back(place == keys_[key].holds.end() ? nullptr : &place->second);
    }
    return found;
  }
  // Whether the keys are those that have the id, all in one state.
  static bool Agree(const std::vector<Hold*>& found, const std::vector<size_t>& keys) {
    return std::all_of(found.begin(), found.end(), [&](const Hold* hold) {
      return hold != nullptr && hold->keys.size() == keys.size() && hold->state == found[0]->state;
    });
  }

  void Take() {
    const std::vector<size_t> keys = RandomKeys();
    const int64_t cost = random_.Between(1, 3);
    const bool fits = std::all_of(keys.begin(), keys.end(),
                                  [&](size_t key) { return keys_[key].Fits(cost, now(), false); });
    const std::string id = StrCat("once:", ++once_);
    const std::string words =
        StrCat("LIMIT.TAKE ", Names(keys, kTakeRules), " COST ", cost, " ONCE ", id);
    REQUIRE(Allowed(Run(words)) == fits);
    for (const size_t key : keys) {
      if (!fits) continue;
      keys_[key].hits[now()] += cost;
      Hold& hit = keys_[key].holds[id];
      hit.state = Hold::kCommitted;
      hit.counted = cost;
      hit.keys = keys;
      hit.forget_at = tally::test::Forgotten(now());
    }
    RequireAll();
    // A retry counts nothing; after a denial it is another call, and denied too.
    REQUIRE(Allowed(Run(words)) == fits);
    RequireAll();
  }

  void Reserve() {
    const std::vector<size_t> keys = RandomKeys();
    const std::string id = RandomId();
    const int64_t cost = random_.Between(1, 3);
    const int64_t ttl = random_.Between(1, 90'000);
    const std::string words =
        StrCat("LIMIT.RESERVE ", id, " ", ttl, "ms ", Names(keys, kRules), " COST ", cost);
    const std::vector<Hold*> found = Find(keys, id);
    const bool known = std::any_of(found.begin(), found.end(), [](Hold* one) { return one; });
    const std::string reply = Run(words);
    if (known) {
      const bool settled = std::any_of(found.begin(), found.end(), [](Hold* one) {
        return one != nullptr && one->state != Hold::kHeld;
      });
      const bool same = Agree(found, keys) && found[0]->cost() + found[0]->counted == cost;
      if (settled) {
        REQUIRE(reply.substr(0, 9) == "-SETTLED ");
      } else if (same) {
        REQUIRE(reply.ends_with(StrCat(":", found[0]->token, "]")));
      } else {
        REQUIRE(reply.substr(0, 4) == "-ERR");
      }
      return RequireAll();
    }
    const bool fits = std::all_of(keys.begin(), keys.end(),
                                  [&](size_t key) { return keys_[key].Fits(cost, now(), true); });
    REQUIRE(Allowed(reply) == fits);
    for (const size_t key : keys) {
      if (!fits) continue;
      Key& one = keys_[key];
      one.last_token = std::max(one.last_token + 1, now());
      one.hits[now()] += cost;
      Hold& hold = one.holds[id];
      hold.parts[now()] = cost;
      hold.deadline = now() + ttl;
      hold.token = one.last_token;
      hold.keys = keys;
    }
    RequireAll();
    if (!fits) return;
    // A retry.
    REQUIRE(Run(words).ends_with(StrCat(":", keys_[keys[0]].holds[id].token, "]")));
    RequireAll();
  }

  void Extend() {
    const auto [id, keys] = RandomTarget();
    const int64_t more = random_.Between(0, 2);
    const int64_t ttl = random_.Between(1, 90'000);
    const std::vector<Hold*> found = Find(keys, id);
    const std::string reply =
        Run(StrCat("LIMIT.EXTEND ", id, " ", ttl, "ms ", Names(keys, ""), " COST ", more));
    const bool held = Agree(found, keys) && found[0]->state == Hold::kHeld;
    const bool fits = held && (more == 0 || std::all_of(keys.begin(), keys.end(), [&](size_t key) {
                                 return keys_[key].Fits(more, now(), true);
                               }));
    REQUIRE(Allowed(reply) == fits);
    if (!held) REQUIRE(reply[0] == '-');
    for (size_t i = 0; fits && i < keys.size(); ++i) {
      found[i]->deadline = std::max(found[i]->deadline, now() + ttl);
      if (more == 0) continue;
      found[i]->parts[now()] += more;
      keys_[keys[i]].hits[now()] += more;
    }
    RequireAll();
  }

  void Commit() {
    const auto [id, keys] = RandomTarget();
    const std::vector<Hold*> found = Find(keys, id);
    const bool late = random_.OneIn(2);
    // More than is held is counted at the instant of the hold, which may be outside all windows.
    const int64_t actual = random_.Between(0, late                  ? 5
                                              : found[0] == nullptr ? 0
                                                                    : found[0]->cost());
    const bool keep = random_.OneIn(4);
    const std::string words = StrCat("LIMIT.COMMIT ", id, " ", Names(keys, ""), " COST ", actual,
                                     late ? " LATE" : "", keep ? " KEEP" : "");
    const std::string reply = Run(words);
    if (!Agree(found, keys)) return RequireUnknown(reply, found);
    if (found[0]->state != Hold::kHeld) {
      const bool committed = found[0]->state == Hold::kCommitted;
      REQUIRE(reply == StrCat("[:", static_cast<int>(found[0]->state), " :",
                              committed ? found[0]->held : 0, " :",
                              committed ? found[0]->counted : 0, "]"));
      return RequireAll();
    }
    const int64_t cost = found[0]->cost();
    REQUIRE(reply == StrCat("[:1 :", cost, " :", actual, "]"));
    ++settled_;
    for (size_t i = 0; i < keys.size(); ++i)
      CommitOn(keys_[keys[i]], *found[i], actual, late, keep);
    RequireAll();
    if (keep) return;
    REQUIRE(Run(words) == StrCat("[:2 :", cost, " :", actual, "]"));
    RequireAll();
  }

  void CommitOn(Key& key, Hold& hold, int64_t actual, bool late, bool keep) {
    const int64_t cost = hold.cost();
    if (late) {
      key.GiveBack(hold, keep ? std::min(actual, cost) : cost);
      key.hits[now()] += actual;
    } else {
      int64_t left = actual;
      for (auto& [at, held] : hold.parts) {
        const int64_t used = std::min(left, held);
        held -= used;
        left -= used;
      }
      if (!keep) key.GiveBack(hold, hold.cost());
    }
    if (keep) {
      hold.counted += actual;
      std::erase_if(hold.parts, [&](const auto& part) { return part.second == 0; });
      return;
    }
    hold.held = cost;
    hold.counted = actual;
    Key::End(hold, Hold::kCommitted);
  }

  void RequireUnknown(const std::string& reply, const std::vector<Hold*>& found) {
    const bool none = std::all_of(found.begin(), found.end(), [](Hold* one) { return !one; });
    REQUIRE(reply.substr(0, none ? 3 : 8) == (none ? "[:0" : "-ERR key"));
    RequireAll();
  }

  void Cancel() {
    const auto [id, keys] = RandomTarget();
    const std::vector<Hold*> found = Find(keys, id);
    const std::string words = StrCat("LIMIT.CANCEL ", id, " ", Names(keys, ""));
    const std::string reply = Run(words);
    if (!Agree(found, keys)) return RequireUnknown(reply, found);
    if (found[0]->state != Hold::kHeld) {
      REQUIRE(reply == StrCat("[:", static_cast<int>(found[0]->state), " :0]"));
      return RequireAll();
    }
    REQUIRE(reply == StrCat("[:1 :", found[0]->cost(), "]"));
    ++settled_;
    for (size_t i = 0; i < keys.size(); ++i) {
      keys_[keys[i]].GiveBack(*found[i], found[i]->cost());
      Key::End(*found[i], Hold::kCancelled);
    }
    RequireAll();
    REQUIRE(Run(words) == "[:4 :0]");
    RequireAll();
  }

  void Reset() {
    if (!random_.OneIn(3)) return;
    const size_t key = random_.Below(kKeys.size());
    Run(StrCat("LIMIT.RESET ", kKeys[key]));
    // What other keys hold under the id stays theirs.
    keys_[key] = Key();
    RequireAll();
  }

  // Asks for all that is left, which changes nothing.
  void RequireAll() {
    INFO(last_ << " at " << now());
    for (size_t i = 0; i < kKeys.size(); ++i) {
      Key key = keys_[i];
      const int64_t sliding = key.Sliding(now());
      const int64_t fixed = key.Fixed(now());
      const int64_t left =
          std::max<int64_t>(0, std::min(kSlidingLimit - sliding, kFixedLimit - fixed));
      const std::string reply =
          server_->Run(StrCat("LIMIT.PEEK ", kKeys[i], " ", kTakeRules, " COST 0"));
      const size_t third = reply.find(':', reply.find(':', reply.find(':', 2) + 1));
      INFO(kKeys[i] << " " << reply << " expected " << left);
      REQUIRE(std::stoll(reply.substr(third + 1)) == left);
      RequireHeld(i);
    }
  }
  void RequireHeld(size_t place) {
    std::map<int64_t, std::string> rows;
    for (const auto& [id, hold] : keys_[place].holds) {
      if (hold.state != Hold::kHeld || hold.deadline <= now()) continue;
      rows[hold.token] = StrCat("\"", id, "\" :", hold.cost());
    }
    const std::string reply = server_->Run(StrCat("LIMIT.HELD ", kKeys[place]));
    size_t at = 0;
    for (const auto& [token, row] : rows) {
      INFO(reply);
      at = reply.find(row, at);
      REQUIRE(at != std::string::npos);
    }
    REQUIRE(std::count(reply.begin(), reply.end(), '"') ==
            static_cast<std::ptrdiff_t>(2 * rows.size()));
  }

  test::SeededRandom random_;
  std::unique_ptr<CommandHarness> server_;
  std::vector<std::string> log_;
  std::array<Key, kKeys.size()> keys_;
  std::string last_;
  int64_t once_ = 0;
  int settled_ = 0;
};

TEST_CASE("Reservations: streams of all commands do what the pages say", "[reservation]") {
  for (uint64_t streams = test::Scaled(4); streams > 0; --streams) {
    Stream stream;
    INFO("TALLY_SEED=" << stream.seed());
    for (int i = 0; i < 2'500; ++i) stream.Step();
    CHECK(stream.settled() > 50);
  }
}

}  // namespace
}  // namespace tally::server::reservation_stream_test
