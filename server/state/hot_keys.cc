#include "server/state/hot_keys.h"

#include <algorithm>

namespace tally::server {

void HotKeys::Start(const Options& options, int64_t unix_ms, int64_t now_ms, const CpuTime& cpu) {
  Reset();
  options_ = options;
  unix_ms_ = unix_ms;
  started_ms_ = now_ms;
  cpu_at_start_ = cpu;
  active_ = true;
}

void HotKeys::Stop(int64_t now_ms) {
  active_ = false;
  stopped_ms_ = now_ms;
}

void HotKeys::Reset() {
  active_ = false;
  unix_ms_ = 0;
  totals_ = {};
  by_micros_ = SpaceSaving(kNames);
  by_bytes_ = SpaceSaving(kNames);
}

void HotKeys::StopIfDue(int64_t now_ms) {
  const bool due = options_.duration_ms > 0 && now_ms >= started_ms_ + options_.duration_ms;
  if (active_ && due) Stop(started_ms_ + options_.duration_ms);
}

void HotKeys::Note(const Command& command, Args args, uint64_t micros, uint64_t reply_bytes,
                   int64_t now_ms) {
  StopIfDue(now_ms);
  if (!active_) return;
  uint64_t bytes = reply_bytes;
  for (const std::string_view arg : args) bytes += arg.size();
  totals_.micros += micros;
  totals_.bytes += bytes;
  if (options_.sample > 1 && random_() % options_.sample != 0) return;
  keys_.clear();
  if (!FindKeys(command, args, keys_) || keys_.empty()) return;
  for (const KeyReference& key : keys_) {
    const SketchName name{.key = args[key.index]};
    const uint64_t hash = HashOf(name, seed_);
    SpaceSaving::Counter counter =
        SpaceSaving::CounterOf(hash, name, micros / keys_.size(), now_ms);
    if (options_.cpu) by_micros_.Add(counter);
    counter.count = bytes / keys_.size();
    if (options_.net) by_bytes_.Add(counter);
  }
}

std::vector<SpaceSaving::Counter> HotKeys::Top(const SpaceSaving& sketch) const {
  std::vector<SpaceSaving::Counter> top(sketch.items().begin(), sketch.items().end());
  std::erase_if(top,
                [](const SpaceSaving::Counter& counter) { return counter.count == counter.error; });
  std::sort(top.begin(), top.end(), [](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : a.hash < b.hash;
  });
  if (top.size() > options_.count) top.resize(options_.count);
  for (SpaceSaving::Counter& counter : top) counter.count *= options_.sample;
  return top;
}

}  // namespace tally::server
