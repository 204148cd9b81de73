#include "server/state/slowlog.h"

#include <algorithm>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

constexpr size_t kMaxArgs = 32;
constexpr size_t kMaxArgBytes = 128;
constexpr size_t kMaxSamples = 160;

std::string Shorten(std::string_view arg) {
  std::string text(arg.substr(0, kMaxArgBytes));
  if (arg.size() > kMaxArgBytes) {
    StrAppend(text, "... (", arg.size() - kMaxArgBytes, " more bytes)");
  }
  return text;
}

}  // namespace

void Slowlog::Add(const Client& client, Args args, int64_t unix_s, int64_t micros,
                  size_t max_entries) {
  Entry entry{next_id_++, unix_s, micros, {}, client.address, client.name};
  const bool cut = args.size() > kMaxArgs;
  for (const std::string_view arg : args.first(cut ? kMaxArgs - 1 : args.size())) {
    entry.args.push_back(Shorten(arg));
  }
  if (cut) entry.args.push_back(StrCat("... (", args.size() - kMaxArgs + 1, " more arguments)"));
  entries_.push_front(std::move(entry));
  while (entries_.size() > max_entries) entries_.pop_back();
}

void LatencyLog::Add(std::string_view event, int64_t unix_s, int64_t ms) {
  auto it = events_.find(event);
  if (it == events_.end()) it = events_.emplace(event, Event{}).first;
  Event& log = it->second;
  log.max_ms = std::max(log.max_ms, ms);
  if (!log.samples.empty() && log.samples.back().unix_s == unix_s) {
    log.samples.back().ms = std::max(log.samples.back().ms, ms);
    return;
  }
  log.samples.push_back({unix_s, ms});
  if (log.samples.size() > kMaxSamples) log.samples.pop_front();
}

size_t LatencyLog::ResetAll() {
  const size_t events = events_.size();
  events_.clear();
  return events;
}

}  // namespace tally::server
