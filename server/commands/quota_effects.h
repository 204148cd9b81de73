// What a change of a quota book reports and logs.
//
// A change is logged as the command's own words and `NOW <unix ms>`, the instant at which it was
// judged. A book depends only on what was done to it and when, so a replay at any later time gives
// the same book. `LAG <ms>` follows if what is too old to be kept was decided so much before NOW
// (see Place::forget_at_ms). `KEEP <ms>` follows if `quota-retention` was not the same as the
// book's own. These words are understood only in a replay. A change that has left the book empty is
// logged as DEL. What was swept is logged as RESET of the users, or DELLIMIT of the SKUs, with
// ACTIONS and none behind it, which only frees what is out of date: so a follower frees the same,
// and both still hold the same if the clock is set back.
//
// An order that BUY has recorded is logged as RECORD, because the decision is made. An order that
// BUY has not recorded is logged only if the retention has changed or the clock was set back
// (QuotaBook::BuyResult::set_back), and is refused again. A RECORD without items does nothing but
// set back the user's purchases (see AheadWalk).
#pragma once

#include <string_view>

#include "core/engine/quota_books.h"
#include "server/command/command_context.h"
#include "server/commands/quota_args.h"

namespace tally::server {

// Logs the call as `outcome` requires, and reports `event` if the book has changed. Returns false
// after replying WRONGTYPE, or that what the ids have is too much; `named` says what they are.
[[nodiscard]] bool ReportAndLog(CommandContext& context, QuotaArgs& args,
                                const QuotaBooks::Outcome& outcome, std::string_view event,
                                std::string_view named);

}  // namespace tally::server
