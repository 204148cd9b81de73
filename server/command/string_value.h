// A string value as text, whichever way the keyspace holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/bytes/number.h"
#include "core/keyspace/keyspace.h"
#include "server/command/command_context.h"

namespace tally::server {

// The text of a string entry; a view of the entry, so it lives no longer than that.
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

inline void ReplyString(ReplyBuilder& reply, const Keyspace::Entry& entry) {
  if (entry.is_integer()) {
    reply.BulkInteger(entry.integer());
  } else {
    reply.Bulk(entry.bytes());
  }
}

// The number that a string entry is the text of.
inline std::optional<int64_t> IntegerOf(const Keyspace::Entry& entry) {
  return entry.is_integer() ? entry.integer() : ParseInt64(entry.bytes());
}

// How long a command may make a string. What is in the files was accepted once, under a limit that
// may have been larger.
inline int64_t MaxStringBytes(const CommandContext& context) {
  constexpr int64_t kUnlimited = int64_t{1} << 56;
  return context.replaying ? kUnlimited : context.host.limits.proto_max_bulk_len;
}

}  // namespace tally::server
