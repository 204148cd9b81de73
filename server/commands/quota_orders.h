// Reads the limits, orders and returns that the QUOTA commands take.
#pragma once

#include <vector>

#include "core/engine/quota_books.h"
#include "server/commands/quota_args.h"

namespace tally::server {

// Each reads what is left of the arguments; after an error reply it returns false. The items of an
// order or return are in `items`, which must live as long as it.
[[nodiscard]] bool ReadLimits(QuotaArgs& args, std::vector<QuotaLimitSpec>& limits);
[[nodiscard]] bool ReadOrder(QuotaArgs& args, QuotaOrder& order, std::vector<QuotaItem>& items);
[[nodiscard]] bool ReadReturn(QuotaArgs& args, QuotaReturn& request,
                              std::vector<QuotaReturnItem>& items);

}  // namespace tally::server
