// What the families that make sets share.
#pragma once

#include <string_view>
#include <utility>

#include "core/set/set.h"
#include "server/command/command_context.h"

namespace tally::server {

inline SetLimits SetLimitsOf(const CommandContext& context) {
  return {static_cast<size_t>(context.host.limits.set_max_intset_entries)};
}

// Stores the set at the key without a deadline; replaces whatever the key holds.
inline Set& StoreSet(CommandContext& context, std::string_view key, Set&& set) {
  return context.keyspace().SetHeap(key, new Set(std::move(set)), kNoDeadline, context.now_ms);
}

inline void ReplyMembers(ReplyBuilder& reply, const Set& set) {
  reply.Set(set.size());
  set.ForEach([&](const ElementView& member) {
    reply.Bulk(member);
    return true;
  });
}

}  // namespace tally::server
