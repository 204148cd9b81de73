// Strings as text and as numbers, in whichever form the keyspace holds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/bytes/number.h"
#include "core/bytes/text.h"
#include "core/keyspace/keyspace.h"
#include "server/command/command_context.h"

namespace tally::server {

// The text of a string entry. It may be a view of the entry, so it must not outlive the entry.
class StringText {
 public:
  explicit StringText(const Keyspace::Entry& entry)
      : number_(entry.is_integer() ? entry.integer() : 0),
        view_(entry.is_integer() ? number_.view() : entry.bytes()) {}
  StringText(const StringText&) = delete;
  StringText& operator=(const StringText&) = delete;

  std::string_view view() const { return view_; }

 private:
  Int64Text number_;
  std::string_view view_;
};

// Replies `most` bytes of a string entry from `begin` on. A long text is not copied: the reply
// holds the value's memory until it is sent, also if the value changes or goes meanwhile.
inline void ReplyBytes(ReplyBuilder& reply, const Keyspace::Entry& entry, size_t begin,
                       size_t most) {
  const StringText text(entry);
  const std::string_view part = text.view().substr(begin, most);
  if (part.size() < Text::kShareable) return reply.Bulk(part);
  reply.Bulk(SharedBytes(entry.heap<Text>().Share(), begin, most));
}

inline void ReplyString(ReplyBuilder& reply, const Keyspace::Entry& entry) {
  if (entry.is_integer()) {
    reply.BulkInteger(entry.integer());
  } else {
    ReplyBytes(reply, entry, 0, SIZE_MAX);
  }
}

// Returns the integer that a string entry holds, or nothing if its text is no integer.
inline std::optional<int64_t> IntegerOf(const Keyspace::Entry& entry) {
  return entry.is_integer() ? entry.integer() : ParseInt64(entry.bytes());
}

// The most bytes that a command may make a string. A replay has no limit: the values of a log were
// accepted before, perhaps under a larger limit.
inline int64_t MaxStringBytes(const CommandContext& context) {
  constexpr int64_t kUnlimited = int64_t{1} << 56;
  return context.replaying ? kUnlimited : context.host.limits.proto_max_bulk_len;
}

}  // namespace tally::server
