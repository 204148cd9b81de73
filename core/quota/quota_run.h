// The runs of a snapshot of a QuotaBook.
//
// A run of a snapshot is one byte for its kind, then
//   header  signed varints: format, minimum retention in ms, the three fields of RecordingOrder,
//           then recorded_ms and horizon_ms of each entry of Retention::gone()
//   texts   for each text: signed varint of its number, length-prefixed text; there is no such run
//           if the book has no texts
//   limits  for each SKU: id, length-prefixed limit block
//   parts   of SKUs with many limits (sku_parts.h), for each: id of the SKU, length-prefixed limit
//           block; there is no such run if the book has no such SKUs
//   users   for each user: id, length-prefixed purchase block
//   chunks  of large users (large_user.h), for each: id of the user, varint of the chunk's number,
//           length-prefixed purchase block, or block of returns (return_marks.h) if the number is
//           LargeUser::kMarks or more; there is no such run if the book has no large users
// An id is the signed varint of an integer, or kQuotaTextMark and a length-prefixed text: the text
// of a user, or the packed number of a SKU's text.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

enum QuotaRun : char {
  kHeaderRun = 'H',
  kTextsRun = 'T',
  kLimitsRun = 'L',
  kPartsRun = 'M',
  kUsersRun = 'U',
  kChunksRun = 'C'
};

// No varint begins with these bytes: they would be a zero that is longer than necessary.
inline constexpr std::string_view kQuotaTextMark("\x80\0", 2);

inline constexpr int64_t kQuotaFormat = 1;

}  // namespace tally
