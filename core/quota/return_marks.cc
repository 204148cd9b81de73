#include "core/quota/return_marks.h"

#include <absl/hash/hash.h>

#include "core/bytes/varint.h"

namespace tally {
namespace {

constexpr char kTextOrder = 1;
constexpr char kMarkOfTextSku = 2;
constexpr char kSameOrder = 4;

bool ReadOrder(std::string_view& in, char flags, QuotaId& order) {
  if (flags & kSameOrder) return true;
  if (flags & kTextOrder) {
    std::string_view text;
    if (!ReadLengthPrefixed(in, text) || text.size() > kMaxQuotaIdBytes) return false;
    order = QuotaId::Text(text);
    return true;
  }
  int64_t number = 0;
  if (!ReadSignedVarint(in, number)) return false;
  order = number;
  return true;
}

}  // namespace

bool DecodeMarks(std::string_view block, std::vector<ReturnMark>& marks) {
  marks.clear();
  ReturnMark mark;
  mark.ts_ms = kTimeBaseMs;
  while (!block.empty()) {
    const char flags = block.front();
    block.remove_prefix(1);
    int64_t sku = 0;
    int64_t difference = 0;
    if ((flags & kSameOrder && marks.empty()) || !ReadOrder(block, flags, mark.order) ||
        !ReadSignedVarint(block, sku) || !ReadSignedVarint(block, difference)) {
      return false;
    }
    mark.sku = BookId(sku, flags & kMarkOfTextSku);
    mark.ts_ms = WrappingAdd(mark.ts_ms, difference);
    marks.push_back(mark);
  }
  return !marks.empty();
}

std::string EncodeMarks(std::span<const ReturnMark> marks) {
  std::string block;
  const ReturnMark* previous = nullptr;
  for (const ReturnMark& mark : marks) {
    const bool is_same = previous != nullptr && previous->order == mark.order;
    block.push_back(static_cast<char>((mark.sku.is_text ? kMarkOfTextSku : 0) |
                                      (is_same                ? kSameOrder
                                       : mark.order.is_text() ? kTextOrder
                                                              : 0)));
    if (!is_same && mark.order.is_text()) AppendLengthPrefixed(block, mark.order.text());
    if (!is_same && !mark.order.is_text()) AppendSignedVarint(block, mark.order.number());
    AppendSignedVarint(block, mark.sku.value);
    const int64_t base_ms = previous == nullptr ? kTimeBaseMs : previous->ts_ms;
    AppendSignedVarint(block, WrappingSub(mark.ts_ms, base_ms));
    previous = &mark;
  }
  return block;
}

uint32_t HashOf(const ReturnMark& mark) {
  return static_cast<uint32_t>(absl::HashOf(mark.order, mark.sku, mark.ts_ms));
}

}  // namespace tally
