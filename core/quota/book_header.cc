#include "core/quota/book_header.h"

#include <utility>
#include <vector>

#include "core/bytes/varint.h"
#include "core/quota/quota_run.h"

namespace tally {

void SaveHeader(const BookData& book, std::string& out) {
  out.push_back(kHeaderRun);
  for (const int64_t value :
       {kQuotaFormat, book.retention.minimum_ms(), book.recording.latest_mark_ms,
        book.recording.latest_stamp_ms, book.recording.latest_future_ms}) {
    AppendSignedVarint(out, value);
  }
  for (const Retention::Gone& gone : book.retention.gone()) {
    AppendSignedVarint(out, gone.recorded_ms);
    AppendSignedVarint(out, gone.horizon_ms);
  }
}

bool LoadHeader(BookData& book, std::string_view in) {
  int64_t format = 0;
  if (!ReadSignedVarint(in, format) || format != kQuotaFormat) return false;
  int64_t min_retention_ms = 0;
  if (!ReadSignedVarint(in, min_retention_ms) || min_retention_ms <= 0) return false;
  book.retention.set_minimum_ms(min_retention_ms);
  if (!ReadSignedVarint(in, book.recording.latest_mark_ms) ||
      !ReadSignedVarint(in, book.recording.latest_stamp_ms) ||
      !ReadSignedVarint(in, book.recording.latest_future_ms)) {
    return false;
  }
  std::vector<Retention::Gone> all_gone;
  while (!in.empty()) {
    Retention::Gone& gone = all_gone.emplace_back();
    if (!ReadSignedVarint(in, gone.recorded_ms) || !ReadSignedVarint(in, gone.horizon_ms)) {
      return false;
    }
  }
  return book.retention.set_gone(std::move(all_gone));
}

}  // namespace tally
