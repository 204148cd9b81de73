// Loads the runs of a quota book (quota_run.h).
#pragma once

#include <string_view>

#include "core/quota/book_data.h"

namespace tally {

// See QuotaBook::Load.
[[nodiscard]] bool LoadRun(BookData& book, std::string_view run);

}  // namespace tally
