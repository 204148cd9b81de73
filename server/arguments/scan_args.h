// The arguments and the reply that SCAN, HSCAN, SSCAN and ZSCAN share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

// Returns the cursor that ScanReply showed to the client as this argument. If the argument is no
// cursor, replies "ERR invalid cursor" and returns nothing.
std::optional<uint64_t> CursorArg(CommandContext& context, size_t index);

struct ScanOptions {
  size_t count = 10;                        // about how many elements to look at
  std::optional<std::string_view> pattern;  // glob
  std::optional<std::string_view> type;     // as TYPE names it, in any case

  bool Matches(std::string_view name) const;
};

enum class ScanTarget : uint8_t { kKeys, kElements };

// Reads MATCH, COUNT and, for keys, TYPE from argument `first` on. Returns false after replying an
// error.
bool ParseScanOptions(CommandContext& context, size_t first, ScanTarget target,
                      ScanOptions& options);

// The reply [cursor, [element, …]]. The elements are collected first, because the cursor is known
// only at the end.
class ScanReply {
 public:
  explicit ScanReply(CommandContext& context)
      : reply_(context.reply),
        cursors_(context.host.cursors),
        found_(elements_, context.reply.protocol()) {}

  void Add(const ElementView& element) {
    found_.Bulk(element);
    ++count_;
  }
  // Adds a score as a bulk string, in RESP3 too, as Redis does here.
  void AddDouble(double score);
  void Finish(uint64_t cursor);

 private:
  ReplyBuilder& reply_;
  const CursorCode& cursors_;
  ByteBlocks elements_;
  ReplyBuilder found_;
  size_t count_ = 0;
};

}  // namespace tally::server
