// Goes through the keys of a call that has many.
#pragma once

#include <algorithm>
#include <cstddef>

#include "server/command/command_context.h"

namespace tally::server {

// Calls visit(key) for each argument from `first` on. Prefetches what the lookups will read for 16
// keys at a time, so that their cache misses overlap.
template <typename Visit>
void ForEachKey(CommandContext& context, size_t first, Visit&& visit) {
  constexpr size_t kTogether = 16;
  for (Args rest = context.args.subspan(first); !rest.empty();) {
    const Args some = rest.first(std::min(rest.size(), kTogether));
    if (some.size() > 1) context.keyspace().Prefetch(some);
    for (const std::string_view key : some) visit(key);
    rest = rest.subspan(some.size());
  }
}

}  // namespace tally::server
