// The arguments and the reply that SCAN, HSCAN, SSCAN and ZSCAN share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

// A cursor as ScanReply has shown it. Replies "ERR invalid cursor" and gives nothing when the
// argument is no cursor.
std::optional<uint64_t> CursorArg(CommandContext& context, size_t index);

struct ScanOptions {
  size_t count = 10;                        // elements to look at, more or less
  std::optional<std::string_view> pattern;  // glob
  std::optional<std::string_view> type;     // as TYPE names it, in any case

  bool Matches(std::string_view name) const;
};

enum class ScanTarget : uint8_t { kKeys, kElements };

// MATCH, COUNT and, for keys, TYPE from `first` on. Replies the error and returns false.
bool ParseScanOptions(CommandContext& context, size_t first, ScanTarget target,
                      ScanOptions& options);

// [cursor, [element, …]]: the elements are gathered first, since the cursor is known last.
class ScanReply {
 public:
  explicit ScanReply(CommandContext& context)
      : reply_(context.reply),
        cursors_(context.host.cursors),
        found_(elements_, context.reply.protocol()) {}

  void Add(std::string_view element) {
    found_.Bulk(element);
    ++count_;
  }
  // A score: in RESP3 too a bulk string, as Redis sends it here.
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
