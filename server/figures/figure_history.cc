#include "server/figures/figure_history.h"

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "server/figures/refusal.h"
#include "server/memory/memory_usage.h"
#include "server/state/clock.h"
#include "server/state/loop_stats.h"

namespace tally::server {
namespace {

// The ticks that ask whether a point is due come late by a part of their own interval, so that a
// point is taken a little early rather than a whole tick late.
constexpr int64_t kEarlyUs = 25'000;

// CONFIG RESETSTAT sets totals to 0.
uint64_t Grown(uint64_t before, uint64_t after) { return after >= before ? after - before : after; }

FigurePoint PointOf(const FigureTotals& before, const FigureTotals& after) {
  const DurationHistogram turns = after.turns.Since(before.turns);
  return {.at_ms = after.at_ms,
          .span_ms = std::max<int64_t>(1, (after.monotonic_us - before.monotonic_us) / 1000),
          .requests = Grown(before.requests, after.requests),
          .allowed = Grown(before.allowed, after.allowed),
          .denied = Grown(before.denied, after.denied),
          .errors = Grown(before.errors, after.errors),
          .p50_us = turns.Percentile(0.5),
          .p99_us = turns.Percentile(0.99),
          .longest_us = turns.Percentile(1),
          .used_bytes = after.used_bytes,
          .resident_bytes = after.resident_bytes,
          .refuses = after.refuses};
}

// In the order of the fields in AppendJson.
void AppendPoint(const FigurePoint& point, std::string& out) {
  char separator = '[';
  const auto add = [&](uint64_t number) {
    StrAppend(out, separator, number);
    separator = ',';
  };
  add(static_cast<uint64_t>(std::max<int64_t>(point.at_ms, 0)));
  add(static_cast<uint64_t>(point.span_ms));
  for (const uint64_t number :
       {point.requests, point.allowed, point.denied, point.errors, point.p50_us, point.p99_us,
        point.longest_us, point.used_bytes, point.resident_bytes}) {
    add(number);
  }
  add(point.refuses ? 1 : 0);
  out += ']';
}

}  // namespace

bool FigureHistory::Course::IsDue(int64_t monotonic_us) const {
  return !begun_ || monotonic_us - before_.monotonic_us >= scale_.step_ms * 1000 - kEarlyUs;
}

void FigureHistory::Course::Add(const FigureTotals& totals) {
  if (!IsDue(totals.monotonic_us)) return;
  if (begun_) {
    while (!points_.empty() && points_.back().at_ms >= totals.at_ms) points_.pop_back();
    points_.push_back(PointOf(before_, totals));
    if (points_.size() > scale_.points) points_.pop_front();
  }
  before_ = totals;
  begun_ = true;
}

bool FigureHistory::IsDue(int64_t monotonic_us) const { return fine_.IsDue(monotonic_us); }

void FigureHistory::Add(const FigureTotals& totals) {
  fine_.Add(totals);
  coarse_.Add(totals);
}

const FigurePoint* FigureHistory::latest() const {
  return fine_.points().empty() ? nullptr : &fine_.points().back();
}

size_t FigureHistory::MemoryBytes() const {
  return (fine_.points().size() + coarse_.points().size()) * sizeof(FigurePoint);
}

void FigureHistory::AppendLatest(std::string& out) const {
  const auto add = [&](std::string_view begin, const std::deque<FigurePoint>& points) {
    out += begin;
    if (points.empty()) {
      out += "[]";
    } else {
      AppendPoint(points.back(), out);
    }
  };
  add("{\"fine\":", fine_.points());
  add(",\"coarse\":", coarse_.points());
  out += '}';
}

void FigureHistory::AppendJson(std::string& out) const {
  out += R"({"fields":["at_ms","span_ms","requests","allowed","denied","errors","p50_us","p99_us",)"
         R"("longest_us","used","resident","refuses"])";
  const auto add = [&](std::string_view name, const std::deque<FigurePoint>& points) {
    StrAppend(out, ",\"", name, "\":[");
    for (const FigurePoint& point : points) {
      if (&point != &points.front()) out += ',';
      AppendPoint(point, out);
    }
    out += ']';
  };
  add("fine", fine_.points());
  add("coarse", coarse_.points());
  out += '}';
}

FigureTotals ReadTotals(const Services& server) {
  FigureTotals totals{.at_ms = server.clock.now_ms(),
                      .monotonic_us = Clock::MonotonicMicros(),
                      .requests = server.stats.commands_processed,
                      .errors = server.stats.error_replies,
                      .turns = server.loop.durations(),
                      .used_bytes = server.memory.Current(),
                      .resident_bytes = ReadResidentBytes(),
                      .refuses = !Refusal(server).empty()};
  const Decisions& decisions = server.engine.decisions();
  for (size_t i = 0; i < Decisions::kCommands; ++i) {
    const DecisionCount& count = decisions.by_command(static_cast<Decisions::Command>(i));
    totals.allowed += count.allowed;
    totals.denied += count.denied;
  }
  return totals;
}

}  // namespace tally::server
