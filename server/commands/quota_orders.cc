#include "server/commands/quota_orders.h"

namespace tally::server {
namespace {

// Whether the next argument is an option rather than an item of an order.
bool AtOption(const QuotaArgs& args) { return args.At("at") || args.At("once"); }

}  // namespace

bool ReadLimits(QuotaArgs& args, std::vector<QuotaLimitSpec>& limits) {
  do {
    if (!args.HasRoom("limit", limits.size())) return false;
    QuotaLimitSpec& limit = limits.emplace_back();
    if (!args.Read("sku", limit.sku) || !args.Read("action", limit.action) ||
        !args.ReadCount("limit", 0, limit.limit) || !args.ReadWindow(limit.window_ms)) {
      return false;
    }
  } while (!args.done());
  return true;
}

bool ReadOrder(QuotaArgs& args, QuotaOrder& order, std::vector<QuotaItem>& items) {
  if (!args.Read("user", order.user) || !args.Read("order", order.order)) return false;
  if (!args.Take("items")) return args.Missing("ITEMS");
  // A log has orders without items, which only set back (see quota_effects.h).
  while (!args.replaying() || !args.done()) {
    if (!args.HasRoom("item", items.size())) return false;
    QuotaItem& item = items.emplace_back();
    if (!args.Read("sku", item.sku) || !args.Read("action", item.action) ||
        !args.ReadCount("qty", 1, item.qty)) {
      return false;
    }
    if (args.done() || AtOption(args) || args.AtHold()) break;
  }
  order.items = items;
  order.ts_ms = args.now_ms();
  while (!args.done()) {
    if (args.TakeOption("once")) {
      order.once = true;
    } else if (args.TakeOption("at")) {
      if (!args.ReadPastInstant(order.ts_ms)) return false;
    } else if (args.TakeOption("hold")) {
      if (!args.ReadHold(order.hold_ms)) return false;
    } else {
      return args.End();
    }
  }
  return true;
}

bool ReadReturn(QuotaArgs& args, QuotaReturn& request, std::vector<QuotaReturnItem>& items) {
  if (!args.Read("user", request.user) || !args.Read("order", request.order)) return false;
  if (!args.Take("items")) return args.Missing("ITEMS");
  do {
    if (!args.HasRoom("item", items.size())) return false;
    QuotaReturnItem& item = items.emplace_back();
    if (!args.Read("sku", item.sku) || !args.ReadCount("qty", 1, item.qty)) return false;
  } while (!args.done() && !AtOption(args));
  request.items = items;
  request.ts_ms = args.now_ms();
  while (!args.done()) {
    if (args.TakeOption("once")) {
      request.once = true;
    } else if (args.TakeOption("at")) {
      // It only names the return, so a retry must find it as it was given.
      if (!args.ReadInstant(request.ts_ms)) return false;
    } else {
      return args.End();
    }
  }
  return true;
}

}  // namespace tally::server
