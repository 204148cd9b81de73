#include "core/quota/purchase_block.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "core/base/check.h"

namespace tally {
namespace {

constexpr int32_t kMaxInlineQty = 6;
constexpr uint8_t kExtraFollows = 7;

bool SameOrder(const PurchaseLine& a, const PurchaseLine& b) {
  return a.order == b.order && a.ts_ms == b.ts_ms && a.recorded_ms == b.recorded_ms;
}

// Splits `lines` into orders, each a group of consecutive lines.
std::vector<std::span<const PurchaseLine>> SplitOrders(std::span<const PurchaseLine> lines) {
  std::vector<std::span<const PurchaseLine>> orders;
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin + 1;
    while (end < lines.size() && SameOrder(lines[begin], lines[end])) ++end;
    orders.push_back(lines.subspan(begin, end - begin));
    begin = end;
  }
  return orders;
}

// Returns the zigzag of the order's id minus `number`, and sets `number` to that id. For a text,
// returns 0 and leaves `number` as it is.
uint64_t OrderDifference(const QuotaId& order, int64_t& number) {
  if (order.is_text()) return 0;
  const uint64_t difference = ZigZagEncode(WrappingSub(order.number(), number));
  number = order.number();
  return difference;
}

void AppendOrderHead(std::string& block, const PurchaseLine& line, uint64_t order,
                     int64_t previous_ts_ms) {
  const uint32_t order_bytes = PackedBytes(order);
  const PackedTime time(WrappingSub(line.ts_ms, previous_ts_ms));
  const bool stamped = line.recorded_ms != line.ts_ms;
  block.push_back(static_cast<char>((order_bytes - 1) | (time.bytes - 1) << 3 |
                                    (time.whole_seconds ? 0x40 : 0) |
                                    (stamped || line.order.is_text() ? 0x80 : 0)));
  AppendPacked(block, order, order_bytes);
  AppendPacked(block, time.zigzag, time.bytes);
  if (line.order.is_text()) {
    const std::string_view text = line.order.text();
    AppendVarint(block, 0);
    AppendVarint(block, text.size() << 1 | (stamped ? 1 : 0));
    block.append(text);
  }
  if (stamped) AppendSignedVarint(block, WrappingSub(line.recorded_ms, line.ts_ms));
}

void AppendLine(std::string& block, const PurchaseLine& line, bool more) {
  const uint64_t sku = ZigZagEncode(line.sku.value);
  const uint32_t sku_bytes = PackedBytes(sku);
  const bool has_text = line.sku.is_text || line.action.is_text;
  const bool is_inline =
      line.resets == kNotReset && line.qty <= kMaxInlineQty && !has_text && !line.is_held();
  const uint32_t qty_code = is_inline ? static_cast<uint32_t>(line.qty) : kExtraFollows;
  block.push_back(static_cast<char>((sku_bytes - 1) | (line.action.value != 0 ? 0x08 : 0) |
                                    (more ? 0x10 : 0) | qty_code << 5));
  AppendPacked(block, sku, sku_bytes);
  if (line.action.value != 0) AppendSignedVarint(block, line.action.value);
  if (is_inline) return;
  const auto qty = static_cast<uint64_t>(line.qty);
  const uint32_t qty_bytes = qty == 0 ? 0 : PackedBytes(qty);
  block.push_back(static_cast<char>(line.resets | (line.is_held() ? kHoldFollows : qty_bytes) << 2 |
                                    (line.sku.is_text ? kExtraTextSku : 0) |
                                    (line.action.is_text ? kExtraTextAction : 0)));
  if (!line.is_held()) return AppendPacked(block, qty, qty_bytes);
  AppendPacked(block, qty, sizeof line.qty);
  AppendVarint(block, static_cast<uint64_t>(line.hold_ms));
  AppendSignedVarint(block, WrappingSub(line.held_at_ms, line.ts_ms));
}

void AppendReturn(std::string& block, const ReturnMark& mark, size_t index, int64_t order_ts_ms) {
  const uint64_t sku = ZigZagEncode(mark.sku.value);
  const uint32_t sku_bytes = PackedBytes(sku);
  const PackedTime time(WrappingSub(mark.ts_ms, order_ts_ms));
  block.push_back(static_cast<char>((sku_bytes - 1) | (time.bytes - 1) << 3 |
                                    (time.whole_seconds ? 0x40 : 0) |
                                    (mark.sku.is_text ? 0x80 : 0)));
  AppendVarint(block, index);
  AppendPacked(block, sku, sku_bytes);
  AppendPacked(block, time.zigzag, time.bytes);
}

}  // namespace

PurchaseReader::PurchaseReader(std::string_view block) : in_(block) {
  orders_left_ = in_.Varint();
  line_.ts_ms = kTimeBaseMs;
}

void PurchaseReader::ReadRecordedOrText() {
  uint64_t recorded = in_.Varint();
  if (recorded == 0) {
    const uint64_t size = in_.Varint();
    line_.order = QuotaId::Text(in_.Bytes(size >> 1));
    if ((size & 1) == 0) return;
    recorded = in_.Varint();
  }
  line_.recorded_ms = WrappingAdd(line_.ts_ms, ZigZagDecode(recorded));
}

void PurchaseReader::ReadHold() {
  line_.hold_ms = in_.PositiveVarint();
  line_.held_at_ms = WrappingAdd(line_.ts_ms, ZigZagDecode(in_.Varint()));
}

bool DecodePurchases(std::string_view block, UserPurchases& user) {
  user.Clear();
  PurchaseReader reader(block);
  while (reader.Next()) user.lines.push_back(reader.line());
  if (reader.malformed() || user.lines.empty()) return false;
  if (reader.rest().empty()) return true;

  const auto orders = SplitOrders(user.lines);
  PackedInput in(reader.rest());
  while (!in.empty()) {
    const uint8_t head = in.Byte();
    const uint64_t index = in.Varint();
    const uint64_t sku = in.Fixed((head & 7) + 1u);
    const uint64_t time = in.Fixed((head >> 3 & 7) + 1u);
    if (in.failed() || index >= orders.size()) return false;
    const PurchaseLine& order = orders[index].front();
    user.returns.push_back({order.order, BookId(ZigZagDecode(sku), head & 0x80),
                            WrappingAdd(order.ts_ms, PackedDuration(time, head & 0x40))});
  }
  return true;
}

void EncodePurchases(const UserPurchases& user, std::string& block) {
  Check(!user.lines.empty(), "a user's block holds at least one line");
  const auto orders = SplitOrders(user.lines);
  block.clear();
  AppendVarint(block, orders.size());
  int64_t number = 0;
  int64_t ts_ms = kTimeBaseMs;
  for (const auto order : orders) {
    AppendOrderHead(block, order.front(), OrderDifference(order.front().order, number), ts_ms);
    ts_ms = order.front().ts_ms;
    for (const PurchaseLine& line : order) AppendLine(block, line, &line != &order.back());
  }
  if (user.returns.empty()) return;

  absl::flat_hash_map<QuotaId, size_t> index_of;
  for (size_t i = 0; i < orders.size(); ++i) index_of.try_emplace(orders[i].front().order, i);
  for (const ReturnMark& mark : user.returns) {
    const auto order = index_of.find(mark.order);
    if (order == index_of.end()) continue;
    AppendReturn(block, mark, order->second, orders[order->second].front().ts_ms);
  }
}

}  // namespace tally
