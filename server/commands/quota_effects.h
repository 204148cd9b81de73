// What a change of a quota book reports and logs.
//
// What is logged of a change are the command's own words and `NOW <unix ms>`, the instant that it
// was judged at: a book is a function of what was done to it and when, so that a replay at any
// later time gives the same book. `KEEP <ms>` follows when the command found another
// `quota-retention` than the book's. Both words are understood in a replay only. What has left a
// book empty is logged as DEL, since a replay may still hold bytes that the server had swept away.
//
// An order that BUY has applied is logged as RECORD: the decision is made. In a log BUY means what
// it did before there was RECORD: it records whatever the limits say unless IFLEFT is there,
// and so is logged an order that BUY refused, if only because the retention had changed.
#pragma once

#include <string_view>

#include "core/engine/quota_books.h"
#include "server/command/command_context.h"
#include "server/commands/quota_args.h"

namespace tally::server {

// Logs the call as what it did to the book says, and reports the event if the book has changed.
// False after replying WRONGTYPE.
[[nodiscard]] bool CloseBook(CommandContext& context, QuotaArgs& args,
                             const QuotaBooks::Outcome& outcome, std::string_view event);

}  // namespace tally::server
