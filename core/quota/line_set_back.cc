#include "core/quota/line_set_back.h"

#include "core/quota/book_limits.h"

namespace tally {

// A hold keeps its length. A purchase gets a new stamp: it is not one of those that were gone by
// the time when the retention grew. What deletions have excluded it from until now stays excluded.
void SetLineBack(BookData& book, PurchaseLine& line, int64_t now_ms) {
  line.held_at_ms = std::min(line.held_at_ms, now_ms);
  if (line.ts_ms <= now_ms) return;
  for (const BookLimits::Deletion& one : BookLimits(book).DeletionsOf(line.sku)) {
    if (line.recorded_ms > one.deleted_ms) continue;
    if (one.action == kNoAction) line.resets |= kResetInTotal;
    if (one.action == line.action && line.action != kNoAction) line.resets |= kResetInAction;
  }
  line.ts_ms = now_ms;
  line.recorded_ms = book.recording.Stamp(now_ms, now_ms);
}

}  // namespace tally
