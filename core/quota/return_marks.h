// Returns of a large user (large_user.h), packed into blocks of their own: an order may be returned
// many times.
//
//   block := mark+
//   mark  := flags, [order], sku, time
//     flags  bit 0: the order is a text; bit 1: the sku is the number of a text; bit 2: `order` is
//            absent, since it is that of the mark before
//     order  signed varint, or length-prefixed text;  sku: signed varint
//     time   signed varint of the difference to the mark before (the first: to kTimeBase)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/quota/purchase_block.h"

namespace tally {

// Decodes a whole block into `marks`, which it replaces; texts are views into the block. Returns
// false if the block is empty or malformed.
[[nodiscard]] bool DecodeMarks(std::string_view block, std::vector<ReturnMark>& marks);

std::string EncodeMarks(std::span<const ReturnMark> marks);

// The same for equal marks.
uint32_t HashOf(const ReturnMark& mark);

}  // namespace tally
