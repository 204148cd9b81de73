// Figures of the data: decisions of limits, and keys by type and database.
#include <algorithm>
#include <array>

#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"
#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "core/limit/rule_text.h"
#include "server/command/command_host.h"
#include "server/figures/figure_list.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

std::string CountText(const DecisionCount& count) {
  return StrCat("allowed=", count.allowed, ",denied=", count.denied,
                ",shadow_denied=", count.shadow_denied);
}

// Adds the count's samples under this label.
void AddCounts(MetricName metric, std::string_view label, const DecisionCount& count,
               FigureSink& figures) {
  figures.Add("", count.allowed, {.metric = metric, .labels = {label, "allowed"}});
  figures.Add("", count.denied, {.metric = metric, .labels = {label, "denied"}});
  figures.Add("", count.shadow_denied, {.metric = metric, .labels = {label, "shadow-denied"}});
}

void ReportHolds(const Decisions::HoldCount& holds, FigureSink& figures) {
  figures.Add("holds", StrCat("reserved=", holds.reserved, ",committed=", holds.committed,
                              ",cancelled=", holds.cancelled, ",ended=", holds.ended));
  figures.Add("", holds.reserved, {.metric = "limit_holds", .labels = {"reserved"}});
  figures.Add("", holds.committed, {.metric = "limit_holds", .labels = {"committed"}});
  figures.Add("", holds.cancelled, {.metric = "limit_holds", .labels = {"cancelled"}});
  figures.Add("", holds.ended, {.metric = "limit_holds", .labels = {"ended"}});
}

void ReportPolicies(const Engine& engine, FigureSink& figures) {
  figures.Add("policies", engine.policies().size(), {.metric = "limit_policies"});
  if (figures.shows_rows()) figures.Add("policies_digest", engine.policies().DigestText());
  size_t number = 0;
  engine.policies().ForEachTally([&](const PolicyTally& tally) {
    AddCounts("limit_policy_decisions", tally.name, tally.count, figures);
    if (!figures.shows_rows()) return;
    figures.Add(StrCat("policy_", number++),
                StrCat(CountText(tally.count), ",name=", Printable(tally.name, ",=")));
  });
}

// Returns the average time in ms that keys with a deadline still live, from a sample of keys.
int64_t SampledTtl(const Services& server, const Keyspace& keyspace) {
  constexpr int kSamples = 64;
  const int64_t now_ms = server.clock.now_ms();
  int64_t average = 0;
  int64_t found = 0;
  for (int i = 0; i < kSamples && keyspace.expires() > 0; ++i) {
    const Keyspace::Entry entry = keyspace.Sample(server.host.random());
    if (entry.deadline_ms() == kNoDeadline || entry.expired(now_ms)) continue;
    average += (entry.deadline_ms() - now_ms - average) / ++found;
  }
  return average;
}

// What several databases hold together.
struct DataTotals {
  size_t keys = 0;
  size_t deadlines = 0;
  std::array<size_t, kTypeCount> by_type{};
  int64_t lag_ms = 0;  // of the database with the most

  void Add(const Keyspace& keyspace, int64_t now_ms) {
    keys += keyspace.size();
    deadlines += keyspace.expires();
    for (size_t i = 0; i < by_type.size(); ++i) {
      by_type[i] += keyspace.size_of(static_cast<Type>(i));
    }
    lag_ms = std::max(lag_ms, keyspace.expiry_lag_ms(now_ms));
  }
};

void AddDatabase(std::string_view label, const DataTotals& keys, FigureSink& figures) {
  figures.Add("", keys.keys, {.metric = "database_keys", .labels = {label}});
  figures.Add("", keys.deadlines, {.metric = "database_expiring_keys", .labels = {label}});
}

void ReportTotals(const DataTotals& totals, FigureSink& figures) {
  figures.Add("", totals.keys, {.json = "keys"});
  figures.Add("", totals.deadlines, {.json = "deadlines"});
  for (size_t i = 0; i < totals.by_type.size(); ++i) {
    const std::string_view type = TypeName(static_cast<Type>(i));
    figures.Add("", totals.by_type[i],
                {.metric = "keys", .labels = {type}, .json = StrCat("types.", type)});
  }
  const auto of_type = [&](Type type) { return totals.by_type[static_cast<size_t>(type)]; };
  figures.Add("", of_type(Type::kQuota), {.metric = "quota_books"});
  figures.Add("", of_type(Type::kActive), {.metric = "audiences"});
  figures.Add("", Micros{totals.lag_ms * 1000}, {.metric = "expiry_lag_seconds"});
}

}  // namespace

void ReportLimits(const Services& server, FigureSink& figures) {
  const Decisions& decisions = server.engine.decisions();
  DecisionCount all;
  for (size_t i = 0; i < Decisions::kCommands; ++i) {
    const auto command = static_cast<Decisions::Command>(i);
    const DecisionCount& count = decisions.by_command(command);
    figures.Add(StrCat("decisions_", NameOf(command)), CountText(count));
    AddCounts("decisions", NameOf(command), count, figures);
    all.allowed += count.allowed;
    all.denied += count.denied;
  }
  figures.Add("", all.allowed, {.json = "allowed"});
  figures.Add("", all.denied, {.json = "denied"});
  for (size_t i = 1; i < kLimitAlgorithms; ++i) {
    const auto algorithm = static_cast<LimitAlgorithm>(i);
    const DecisionCount& count = decisions.by_algorithm(algorithm);
    figures.Add(StrCat("algorithm_", NameOf(algorithm)), CountText(count));
    AddCounts("limit_algorithm_decisions", NameOf(algorithm), count, figures);
  }
  ReportHolds(decisions.holds(), figures);
  ReportPolicies(server.engine, figures);
  figures.Add("denials_bytes", decisions.denials().MemoryBytes(),
              {.metric = "memory_part_bytes", .labels = {"denials"}});
}

// The first databases that have keys have a label of their own, and all further ones one together.
// There may be 65,536, and each label is a time series.
void ReportKeyspace(const Services& server, FigureSink& figures) {
  constexpr size_t kMostLabels = 100;
  const int64_t now_ms = server.clock.now_ms();
  size_t labels = 0;
  DataTotals all;
  DataTotals others;
  for (size_t i = 0; i < server.engine.databases(); ++i) {
    const Keyspace& keyspace = server.engine.database(i);
    if (keyspace.size() == 0) continue;
    all.Add(keyspace, now_ms);
    DataTotals own;
    (++labels <= kMostLabels ? own : others).Add(keyspace, now_ms);
    if (labels <= kMostLabels) AddDatabase(StrCat(i), own, figures);
    if (!figures.shows_rows()) continue;
    figures.Add(StrCat("db", i), StrCat("keys=", keyspace.size(), ",expires=", keyspace.expires(),
                                        ",avg_ttl=", SampledTtl(server, keyspace)));
  }
  if (labels > kMostLabels) AddDatabase("other", others, figures);
  ReportTotals(all, figures);
}

}  // namespace tally::server
