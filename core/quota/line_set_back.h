// What a quota book does with a purchase after now: the clock was set back.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/quota/book_data.h"

namespace tally {

inline bool IsAhead(const PurchaseLine& line, int64_t now_ms) {
  return std::max(line.ts_ms, line.held_at_ms) > now_ms;
}

// Makes the line one of now, if it is after now.
void SetLineBack(BookData& book, PurchaseLine& line, int64_t now_ms);

}  // namespace tally
