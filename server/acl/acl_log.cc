#include "server/acl/acl_log.h"

#include <algorithm>
#include <utility>

namespace tally::server {
namespace {

constexpr int64_t kSameForMs = 60'000;
constexpr std::ptrdiff_t kLookedAt = 10;

}  // namespace

void AclLog::Add(Entry entry, size_t max_entries) {
  const auto end = entries_.begin() + std::min(kLookedAt, std::ssize(entries_));
  const auto same = std::find_if(entries_.begin(), end, [&](const Entry& old) {
    return old.reason == entry.reason && old.place == entry.place && old.object == entry.object &&
           old.user == entry.user && entry.created_ms - old.created_ms <= kSameForMs;
  });
  if (same != end) {
    entry.count += same->count;
    entries_.erase(same);
  }
  entries_.push_front(std::move(entry));
  if (entries_.size() > max_entries) entries_.resize(max_entries);
}

}  // namespace tally::server
