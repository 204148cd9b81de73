// What the commands on lists share.
#pragma once

#include <optional>
#include <string_view>

#include "core/list/list.h"
#include "server/command/command_context.h"

namespace tally::server {

enum class ListEnd : uint8_t { kLeft, kRight };

constexpr std::string_view PushEvent(ListEnd end) {
  return end == ListEnd::kLeft ? "lpush" : "rpush";
}
constexpr std::string_view PopEvent(ListEnd end) { return end == ListEnd::kLeft ? "lpop" : "rpop"; }

inline void Push(List& list, ListEnd end, std::string_view text) {
  end == ListEnd::kLeft ? list.PushFront(text) : list.PushBack(text);
}

// Creates an empty list at the key, replacing its value. The caller must add an element to it.
inline List& CreateList(CommandContext& context, std::string_view key) {
  return context.keyspace().SetHeap(key, new List, kNoDeadline, context.now_ms);
}

inline void ReplyElement(ReplyBuilder& reply, const List& list, size_t i) {
  list.ForEach(i, i + 1, [&](const ElementView& text) {
    reply.Bulk(text);
    return true;
  });
}

}  // namespace tally::server
