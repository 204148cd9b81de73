// A quota book that a command is going to change.
//
// What is logged of a change are the command's own words and `NOW <unix ms>`, the instant that it
// was judged at: a book is a function of what was done to it and when, so that a replay at any
// later time gives the same book. `KEEP <ms>` follows when the command found another
// `quota-retention` than the book's. Both words are understood in a replay only. What has left a
// book empty is logged as DEL, since a replay may still hold bytes that the server had swept away.
//
// An order that BUY has applied is logged as RECORD: the decision is made. In a log BUY means what
// it did before there was RECORD: it records whatever the limits say unless IFLEFT stands there,
// and so is logged an order that BUY refused, if only because the retention had changed.
#pragma once

#include <memory>
#include <string_view>

#include "core/quota/quota_book.h"
#include "server/command/command_context.h"
#include "server/commands/quota_args.h"

namespace tally::server {

class QuotaWriter {
 public:
  QuotaWriter(CommandContext& context, QuotaArgs& args) : context_(context), args_(args) {}

  // Finds the book, or makes one that is stored only if the command leaves something in it. False
  // after replying WRONGTYPE.
  [[nodiscard]] bool Open();
  QuotaBook& book() { return *book_; }
  // Ends the command: stores, logs, and tells of the event if the book has `changed`.
  void Close(bool changed, std::string_view event);

 private:
  CommandContext& context_;
  QuotaArgs& args_;
  QuotaBook* book_ = nullptr;
  std::unique_ptr<QuotaBook> new_book_;
  bool retention_changed_ = false;
};

}  // namespace tally::server
