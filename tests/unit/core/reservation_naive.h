// Reservations as their description says them: a list of holds beside the naive counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/limit/reservation.h"
#include "forgotten_ids.h"
#include "limit_naive_decide.h"

namespace tally::test {

struct NaiveHold {
  struct Part {
    int64_t cost = 0;
    int64_t at = 0;
    std::vector<std::pair<int64_t, int64_t>> shares;  // the instant, and what is in the window
  };
  HoldState state = HoldState::kUnknown;
  std::vector<LimitRule> rules;
  std::vector<Part> parts;
  int64_t deadline = 0;
  int64_t latest = kNaiveMax;  // the deadline, as HOLDS says
  int64_t token = 0;
  int64_t forget_at = 0;
  int64_t held = 0;
  int64_t counted = 0;

  int64_t cost() const {
    int64_t sum = 0;
    for (const Part& part : parts) sum += part.cost;
    return sum;
  }
  bool is_concurrent(bool shadow) const {
    return std::any_of(rules.begin(), rules.end(), [shadow](const LimitRule& rule) {
      return rule.algorithm == LimitAlgorithm::kConcurrent && rule.shadow == shadow;
    });
  }
};

class NaiveReserved {
 public:
  NaiveKey counters;
  std::map<std::string, NaiveHold> ids;
  int64_t last_token = 0;

  void Settle(int64_t now) {
    while (true) {
      NaiveHold* first = FirstToEnd();
      if (first == nullptr || first->deadline > now) break;
      const int64_t held = first->cost();
      GiveBack(*first, held, first->deadline);
      End(*first, HoldState::kExpired, first->deadline, held, first->counted);
    }
    std::erase_if(ids, [now](const auto& one) {
      return one.second.state != HoldState::kHeld && one.second.forget_at <= now;
    });
    if (ids.empty()) last_token = 0;
    Prune(now);
  }

  // The clock was set back to `now`: what lies ahead was at `now`, and a hold ends as much earlier.
  void SetBack(int64_t now) {
    for (NaiveCounter& counter : counters) {
      if (counter.IsAhead(now)) counter.SetBack(now);
    }
    for (auto& [id, hold] : ids) {
      int64_t ahead_ms = 0;
      for (NaiveHold::Part& part : hold.parts) {
        ahead_ms = std::max(ahead_ms, part.at - now);
        part.at = std::min(part.at, now);
        for (auto& [at, in_window] : part.shares) at = std::min(at, now);
      }
      hold.deadline -= ahead_ms;
      if (hold.latest != kNaiveMax) hold.latest -= ahead_ms;
    }
  }

  void Prune(int64_t now) {
    std::erase_if(counters, [now](const auto& one) { return one.ExpiresAt() <= now; });
  }

  int64_t Concurrent(bool shadow) const {
    int64_t held = 0;
    for (const auto& [id, hold] : ids) {
      if (hold.state == HoldState::kHeld && hold.is_concurrent(shadow)) held += hold.cost();
    }
    return held;
  }

  // The last deadline of what is held so, or 0.
  int64_t LastConcurrent(bool shadow) const {
    int64_t last = 0;
    for (const auto& [id, hold] : ids) {
      const bool holds = hold.state == HoldState::kHeld && hold.is_concurrent(shadow);
      if (holds && hold.cost() > 0) last = std::max(last, hold.deadline);
    }
    return last;
  }

  void Hold(const std::string& id, const std::vector<LimitRule>& rules, int64_t cost,
            int64_t deadline, int64_t now, int64_t at) {
    NaiveHold& hold = ids[id];
    hold.state = HoldState::kHeld;
    for (const LimitRule& rule : rules) {
      const bool holds = rule.algorithm == LimitAlgorithm::kHolds;
      if (holds) hold.latest = std::min(hold.latest, now + rule.period_ms);
      if (holds || rule.counts() || rule.algorithm == LimitAlgorithm::kConcurrent) {
        hold.rules.push_back(rule);
      }
    }
    // EXTEND numbers the rules in force, and then HOLDS.
    std::stable_sort(hold.rules.begin(), hold.rules.end(), [](const auto& a, const auto& b) {
      const auto order = [](const LimitRule& rule) {
        return rule.algorithm == LimitAlgorithm::kHolds ? 2 : int{rule.shadow};
      };
      return order(a) < order(b);
    });
    hold.parts.push_back(Count(hold.rules, cost, now, at, false));
    hold.deadline = deadline;
    hold.token = last_token = std::max(last_token + 1, now);
    Prune(now);
  }

  void Extend(NaiveHold& hold, int64_t more, int64_t deadline, int64_t now) {
    if (more > 0) hold.parts.push_back(Count(hold.rules, more, now, now, false));
    Drop(hold);
    hold.deadline = std::max(hold.deadline, deadline);
    Prune(now);
  }

  // The id is held, or `force` counts it whatever became of it.
  void Commit(NaiveHold& hold, int64_t actual, bool late, bool keep, int64_t now) {
    const bool held = hold.state == HoldState::kHeld;
    const int64_t cost = held ? hold.cost() : 0;
    int64_t more = actual;
    const int64_t at = held && !late ? hold.parts.front().at : now;
    if (held && late) {
      GiveBack(hold, keep ? std::min(actual, cost) : cost, now);
    } else if (held) {
      const int64_t used = std::min(actual, cost);
      more -= used;
      Use(hold, used);
      if (!keep) GiveBack(hold, cost - used, now);
    }
    if (more > 0) Count(hold.rules, more, now, at, true);
    if (held && keep) {
      hold.counted += actual;
      Drop(hold);
    } else {
      End(hold, HoldState::kCommitted, now, cost, actual);
    }
    Prune(now);
  }

  void Cancel(NaiveHold& hold, int64_t now) {
    const int64_t held = hold.cost();
    GiveBack(hold, held, now);
    End(hold, HoldState::kCancelled, now, held, 0);
    Prune(now);
  }

  // Gives back what was taken, and not what is held; but of LOCKOUT all.
  void Give(int64_t count, int64_t now) {
    Prune(now);
    NaiveReserved without = *this;
    for (auto& [id, hold] : without.ids) {
      if (hold.state == HoldState::kHeld) without.GiveBack(hold, hold.cost(), now);
    }
    for (size_t i = 0; i < counters.size(); ++i) {
      const NaiveCounter before = counters[i];
      const NaiveCounter& taken = without.counters[i];
      if (!before.is_lockout()) counters[i] = taken;
      counters[i].GiveSome(count, now, kNaiveMax);
      if (!before.is_lockout()) counters[i].AddDifference(before, taken);
    }
    Prune(now);
  }

  // A hit that took what `rules` have counted.
  void Remember(const std::string& id, const std::vector<LimitRule>& rules, int64_t cost,
                int64_t now) {
    NaiveHold& hit = ids[id];
    hit.state = HoldState::kCommitted;
    hit.counted = cost;
    hit.forget_at = test::Forgotten(now);
    for (const LimitRule& rule : rules) {
      if (rule.counts()) {
        const int64_t expires_at = NaiveFind(counters, rule).ExpiresAt();
        hit.forget_at = std::max(hit.forget_at, test::ToTenSeconds(expires_at));
      }
    }
  }

  // The answer of one rule, which holds that end make possible earlier. It is to be held `until`.
  LimitDecision Judge(const LimitRule& rule, int64_t cost, int64_t now, int64_t at,
                      int64_t until) const {
    const bool concurrent = rule.algorithm == LimitAlgorithm::kConcurrent;
    LimitDecision decision;
    if (!concurrent) {
      decision = NaiveJudge(counters, rule, cost, now, at);
    } else {
      const int64_t held = Concurrent(rule.shadow);
      decision.allowed = rule.limit > 0 && cost <= rule.limit - held;
      decision.limit = rule.limit;
      decision.remaining = std::max<int64_t>(0, rule.limit - held - (decision.allowed ? cost : 0));
      const int64_t last = std::max(now, LastConcurrent(rule.shadow));
      decision.reset_after_ms = (decision.allowed && cost > 0 ? std::max(last, until) : last) - now;
      if (!decision.allowed) {
        decision.retry_after_ms = cost > rule.limit || rule.limit == 0 ? -1 : kNaiveMax;
      }
    }
    if (decision.allowed || decision.retry_after_ms < 0) return decision;
    const int64_t e = concurrent ? now : JudgedAt(rule, now, at);
    NaiveReserved then = *this;
    while (NaiveHold* hold = then.FirstToEnd()) {
      const int64_t wait = hold->deadline - now;
      if (wait >= decision.retry_after_ms) break;
      then.GiveBack(*hold, hold->cost(), hold->deadline);
      hold->state = HoldState::kExpired;
      if (then.FitsAt(rule, cost, e + wait)) {
        decision.retry_after_ms = wait;
        break;
      }
      if (concurrent) continue;
      // Less is to leave now until it fits by time alone.
      const int64_t from = NaiveFind(then.counters, rule).EarliestFit(rule, cost, e + wait);
      decision.retry_after_ms = std::min(decision.retry_after_ms, from - e);
    }
    return decision;
  }

 private:
  NaiveHold* FirstToEnd() {
    NaiveHold* first = nullptr;
    for (auto& [id, hold] : ids) {
      if (hold.state != HoldState::kHeld) continue;
      if (first == nullptr ||
          std::pair(hold.deadline, hold.token) < std::pair(first->deadline, first->token)) {
        first = &hold;
      }
    }
    return first;
  }

  int64_t JudgedAt(const LimitRule& rule, int64_t now, int64_t at) const {
    NaiveCounter counter = NaiveFind(counters, rule);
    counter.Meet(now, at);
    return counter.JudgedAt(at);
  }
  bool FitsAt(const LimitRule& rule, int64_t cost, int64_t e) const {
    if (rule.algorithm == LimitAlgorithm::kConcurrent)
      return cost <= rule.limit - Concurrent(rule.shadow);
    return NaiveFind(counters, rule).Fits(rule, cost, e);
  }

  static bool SeenBefore(const std::vector<LimitRule>& rules, size_t place) {
    for (size_t i = 0; i < place; ++i) {
      if (rules[i].counts() && NaiveCounter(rules[place]).IsOf(rules[i])) return true;
    }
    return false;
  }

  NaiveHold::Part Count(const std::vector<LimitRule>& rules, int64_t cost, int64_t now, int64_t at,
                        bool in_own_place) {
    NaiveHold::Part part{.cost = cost, .at = at, .shares = {}};
    const std::vector<NaiveUse> uses{{&counters, rules}};
    for (size_t i = 0; i < rules.size(); ++i) {
      if (!rules[i].counts() || SeenBefore(rules, i)) continue;
      const LimitRule rule = NaiveAgreed(uses, &counters, rules[i]);
      NaiveCounter before = NaiveFind(counters, rule);
      before.Meet(now, at);
      const int64_t e = before.JudgedAt(at);
      const int64_t had = before.WindowHits(e);
      NaiveCount(uses[0], rule, cost, now, at, in_own_place);
      const bool base = rule.algorithm == LimitAlgorithm::kBase;
      const int64_t added = NaiveFind(counters, rule).WindowHits(e) - had;
      part.shares.emplace_back(e, base ? added : cost);
    }
    return part;
  }

  template <typename Visit>
  static void ForEachCounter(const std::vector<LimitRule>& rules, Visit&& visit) {
    size_t place = 0;
    for (size_t i = 0; i < rules.size(); ++i) {
      if (rules[i].counts() && !SeenBefore(rules, i)) visit(rules[i], place++);
    }
  }

  void GiveBack(NaiveHold& hold, int64_t amount, int64_t now) {
    for (auto part = hold.parts.rbegin(); part != hold.parts.rend(); ++part) {
      const int64_t taken = std::min(amount, part->cost);
      if (taken == 0) continue;
      ForEachCounter(hold.rules, [&](const LimitRule& rule, size_t place) {
        auto& [at, in_window] = part->shares[place];
        const int64_t back = std::min(taken, in_window);
        const bool bucket = rule.algorithm == LimitAlgorithm::kBucket;
        for (NaiveCounter& counter : counters) {
          if (counter.IsOf(rule)) counter.TakeBack(taken, bucket ? in_window : back, at, now);
        }
        in_window -= back;
      });
      part->cost -= taken;
      amount -= taken;
    }
  }
  static void Use(NaiveHold& hold, int64_t amount) {
    std::vector<bool> buckets;
    ForEachCounter(hold.rules, [&](const LimitRule& rule, size_t) {
      buckets.push_back(rule.algorithm == LimitAlgorithm::kBucket);
    });
    for (NaiveHold::Part& part : hold.parts) {
      const int64_t taken = std::min(amount, part.cost);
      part.cost -= taken;
      amount -= taken;
      for (size_t i = 0; i < part.shares.size(); ++i) {
        int64_t& in_window = part.shares[i].second;
        if (!buckets[i]) in_window = std::min(in_window, part.cost);
      }
    }
  }
  // Forgets parts of which nothing is held, but for the first one if nothing is left.
  static void Drop(NaiveHold& hold) {
    const NaiveHold::Part first = hold.parts.front();
    if (hold.parts.size() < 2) return;
    std::erase_if(hold.parts, [](const auto& part) { return part.cost == 0; });
    if (hold.parts.empty()) hold.parts.push_back(first);
  }
  static void End(NaiveHold& hold, HoldState state, int64_t now, int64_t cost, int64_t counted) {
    const bool held = hold.state == HoldState::kHeld;
    hold.forget_at =
        held ? test::Forgotten(hold.deadline) : std::max(hold.forget_at, test::Forgotten(now));
    hold.state = state;
    hold.held = cost;
    hold.counted = counted;
    hold.parts.clear();
  }
};

}  // namespace tally::test
