// The header run of a quota book (quota_run.h): what it remembers beside its records.
#pragma once

#include <string>
#include <string_view>

#include "core/quota/book_data.h"

namespace tally {

// Appends the run.
void SaveHeader(const BookData& book, std::string& out);
// Loads the run, without its kind. Returns false if it is malformed.
[[nodiscard]] bool LoadHeader(BookData& book, std::string_view run);

}  // namespace tally
