// All that a quota book holds about one user, packed into one string of bytes.
//
//   block  := varint(number of orders) order* return*
//   order  := head, order id, time, [recorded | text order id], line+
//     head      bits 0-2: bytes of the order id - 1; bits 3-5: bytes of the time - 1;
//               bit 6: the time is in whole seconds; bit 7: `recorded` or a text order id follows
//     order id  zigzag of the difference to the last order id that is an integer (at first: to 0);
//               a difference of 0 if the order id is a text
//     time      zigzag of the difference to the order before (the first: to kTimeBase)
//     recorded  varint(zigzag(recorded_ms - ts_ms)), never 0; absent if both times are the same
//     text order id := varint(0), varint(2 * bytes of the text + r), text, [recorded]
//               r is 1 if `recorded` follows, else 0
//   line   := head, sku, [action], [extra, qty]
//     head      bits 0-2: bytes of the sku - 1; bit 3: `action` follows (absent: 0);
//               bit 4: the order has another line; bits 5-7: the quantity, or 7 if `extra` follows
//     sku       zigzag;  action: varint(zigzag)
//     extra     bits 0-1: resets; bits 2-4: bytes of the quantity, which follows, or 7: four bytes
//               of it follow, and `hold`;
//               bit 5: the sku is the number of a text; bit 6: the action is the number of a text
//     hold      varint(hold_ms), never 0; varint(zigzag(held_at_ms - ts_ms)). Who knows no holds
//               finds a quantity that is out of range.
//   return := head, varint(index of an order with the order's id), sku, time
//     head      bits 0-2: bytes of the sku - 1; bits 3-5: bytes of the time - 1;
//               bit 6: the time is in whole seconds; bit 7: the sku is the number of a text
//     sku       zigzag;  time: zigzag of the difference to the time of the order at that index
//
// Numbers whose length is in a head are little-endian and cost one load and one mask to read; a
// purchase in an order of its own takes about 13 bytes. Orders are in the order of recording.
// Differences wrap, so that every int64 survives. Only lines and orders with texts take extra bytes
// for them. A block can be read without its book, so a snapshot is a copy of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/saturating.h"
#include "core/quota/packed_integer.h"
#include "core/quota/quota_id.h"

namespace tally {

// The totals for which a line no longer counts, because they were reset.
enum PurchaseResets : uint8_t {
  kNotReset = 0,
  kResetInAction = 1,  // the total of the line's own action, where that is not kNoAction
  kResetInTotal = 2,   // the total over all actions
};

// The text of an order id is a view into the block, or into memory of whoever made the line.
struct PurchaseLine {
  QuotaId order;
  BookId sku;
  BookId action;
  int64_t ts_ms = 0;        // when it was bought
  int64_t recorded_ms = 0;  // the stamp that RecordingOrder gave it
  int32_t qty = 0;          // what has not been returned; >= 0
  uint8_t resets = kNotReset;
  int64_t held_at_ms = 0;  // 0 for a purchase
  int64_t hold_ms = 0;     // for how long it is held from then on; 0: it is a purchase
  bool is_held() const { return hold_ms != 0; }
  // When a hold ends, which begins at `now_ms` at the latest: the clock may have been set back.
  int64_t HeldUntil(int64_t now_ms) const {
    return SaturatingAdd(std::min(held_at_ms, now_ms), hold_ms);
  }
  int64_t HeldUntil() const { return SaturatingAdd(held_at_ms, hold_ms); }
  friend bool operator==(const PurchaseLine&, const PurchaseLine&) = default;
};

// Remembers a return that was credited, so that it is recognised when it is delivered again. It is
// kept as long as a line of its order is kept.
struct ReturnMark {
  QuotaId order;
  BookId sku;
  int64_t ts_ms = 0;
  friend bool operator==(const ReturnMark&, const ReturnMark&) = default;
};

// Reads the lines of a block one by one, in the order of recording:
//   for (PurchaseReader reader(block); reader.Next();) Use(reader.line());
class PurchaseReader {
 public:
  explicit PurchaseReader(std::string_view block);

  // Moves to the next line; returns false after the last one, and if the block is malformed.
  bool Next() {
    if (!more_lines_ && !NextOrder()) return false;
    return NextLine();
  }
  const PurchaseLine& line() const { return line_; }
  bool malformed() const { return in_.failed(); }
  // Must be called after the last line: returns the part of the block that holds the returns.
  std::string_view rest() const { return in_.rest(); }

 private:
  bool NextOrder();
  bool NextLine();
  void ReadRecordedOrText();
  void ReadHold();

  PackedInput in_;
  uint64_t orders_left_ = 0;
  bool more_lines_ = false;
  int64_t order_number_ = 0;  // the base of the next order id's difference
  PurchaseLine line_;
};

// Instead of the bytes of a line's quantity.
inline constexpr uint32_t kHoldFollows = 7;

// Bits of a line's `extra`.
enum PurchaseExtra : uint8_t {
  kExtraResets = 0x03,
  kExtraTextSku = 0x20,
  kExtraTextAction = 0x40,
};

struct UserPurchases {
  std::vector<PurchaseLine> lines;  // in the order of recording
  std::vector<ReturnMark> returns;

  void Clear() {
    lines.clear();
    returns.clear();
  }
};

// Decodes into `user`, which it replaces; texts are views into the block. Returns false if the
// block is malformed or has no line; `user` may then hold anything.
[[nodiscard]] bool DecodePurchases(std::string_view block, UserPurchases& user);

// Replaces `block`. Leaves out returns of orders that have no line. `user` must have at least one
// line (asserted).
void EncodePurchases(const UserPurchases& user, std::string& block);

inline bool PurchaseReader::NextOrder() {
  if (orders_left_ == 0) return false;
  --orders_left_;
  const uint8_t head = in_.Byte();
  const uint64_t order = in_.Fixed((head & 7) + 1u);
  const uint64_t time = in_.Fixed((head >> 3 & 7) + 1u);
  order_number_ = WrappingAdd(order_number_, ZigZagDecode(order));
  line_.order = order_number_;
  line_.ts_ms = WrappingAdd(line_.ts_ms, PackedDuration(time, head & 0x40));
  line_.recorded_ms = line_.ts_ms;
  if (head & 0x80) [[unlikely]]
    ReadRecordedOrText();
  return !in_.failed();
}

inline bool PurchaseReader::NextLine() {
  const uint8_t head = in_.Byte();
  line_.sku = ZigZagDecode(in_.Fixed((head & 7) + 1u));
  line_.action = ZigZagDecode(in_.VarintIf(head & 0x08));
  more_lines_ = head & 0x10;
  line_.qty = head >> 5;
  line_.resets = kNotReset;
  line_.held_at_ms = 0;
  line_.hold_ms = 0;
  if (line_.qty == 7) {
    const uint8_t extra = in_.Byte();
    line_.resets = extra & kExtraResets;
    line_.sku.is_text = extra & kExtraTextSku;
    line_.action.is_text = extra & kExtraTextAction;
    const uint32_t bytes = extra >> 2 & 7;
    line_.qty = in_.Quantity(bytes == kHoldFollows ? sizeof line_.qty : bytes);
    if (bytes == kHoldFollows) [[unlikely]]
      ReadHold();
  }
  return !in_.failed();
}

}  // namespace tally
