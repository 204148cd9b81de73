// QUOTA: purchase limits by SKU and marketing action. What is logged is in quota_effects.h.
#include <absl/container/inlined_vector.h>

#include <optional>
#include <vector>

#include "core/engine/quota_books.h"
#include "server/command/engine_call.h"
#include "server/command/help.h"
#include "server/commands/families.h"
#include "server/commands/quota_args.h"
#include "server/commands/quota_effects.h"
#include "server/commands/quota_orders.h"

namespace tally::server {
namespace {

// Replies an id as a text, as it was given: a 64-bit number would be another number in JavaScript.
void ReplyId(ReplyBuilder& reply, const QuotaId& id) {
  if (id.is_text()) {
    reply.Bulk(id.text());
  } else {
    reply.BulkInteger(id.number());
  }
}

void ReplyLeft(ReplyBuilder& reply, std::span<const QuotaLeft> lefts) {
  reply.Array(lefts.size());
  for (const QuotaLeft& left : lefts) {
    reply.Array(2);
    ReplyId(reply, left.action);
    reply.Integer(left.left);
  }
}

void ReplyLefts(ReplyBuilder& reply, const QuotaLefts& lefts) {
  reply.Array(lefts.size());
  for (size_t i = 0; i < lefts.size(); ++i) ReplyLeft(reply, lefts.of(i));
}

void ReplyEmptyArrays(ReplyBuilder& reply, size_t count) {
  reply.Array(count);
  for (; count > 0; --count) reply.Array(0);
}

void SetLimit(CommandContext& context) {
  QuotaArgs args(context);
  std::vector<QuotaLimitSpec> limits;
  if (!ReadLimits(args, limits)) return;
  const auto outcome = QuotaBooks(PlaceOf(context)).SetLimits(args.write_args(), limits);
  if (!ReportAndLog(context, args, outcome, "quota.setlimit", "sku")) return;
  context.reply.Integer(static_cast<int64_t>(limits.size()));
}

void DelLimit(CommandContext& context) {
  QuotaArgs args(context);
  QuotaArgs::Ids skus;
  QuotaActions actions;
  if (!args.ReadIds("sku", skus) || !args.ReadActionsToEnd(actions)) return;
  size_t deleted = 0;
  QuotaBooks books(PlaceOf(context));
  if (actions.none()) return books.ExpireLimits(args.write_args(), skus);
  const auto outcome = books.DelLimits(args.write_args(), skus, actions, deleted);
  if (!ReportAndLog(context, args, outcome, "quota.dellimit", "sku")) return;
  context.reply.Integer(static_cast<int64_t>(deleted));
}

void ListQuotaLimits(CommandContext& context) {
  QuotaArgs args(context);
  QuotaArgs::Ids skus;
  QuotaActions actions;
  const QuotaBook* book = nullptr;
  if (!args.ReadIds("sku", skus) || !args.ReadActionsToEnd(actions)) return;
  if (!args.ReadBook(book)) return;
  if (book == nullptr) return ReplyEmptyArrays(context.reply, skus.size());
  if (book->HasTooManyLimits(skus)) {
    args.TooMuch("sku");
    return;
  }
  context.reply.Array(skus.size());
  book->Limits(skus, actions, [&](std::span<const QuotaLimit> limits) {
    context.reply.Array(limits.size());
    for (const QuotaLimit& limit : limits) {
      context.reply.Array(4);
      ReplyId(context.reply, limit.action);
      context.reply.Integer(limit.limit);
      context.reply.Integer(limit.window_ms);
      context.reply.Integer(limit.set_at_ms);
    }
  });
}

// Runs BUY (`checked`) and RECORD. How the order is logged: see quota_effects.h.
void Sell(CommandContext& context, bool checked, std::string_view event) {
  QuotaArgs args(context);
  QuotaOrder order;
  order.if_left = checked;
  order.is_answered = !args.replaying();
  std::vector<QuotaItem> items;
  if (!ReadOrder(args, order, items)) return;
  QuotaLefts lefts;
  QuotaBook::BuyResult result;
  const auto outcome = QuotaBooks(PlaceOf(context)).Buy(args.write_args(), order, result, lefts);
  if (result.recorded) args.LogAs("QUOTA.RECORD");
  if (!ReportAndLog(context, args, outcome, event, "item")) return;
  context.reply.Array(3);
  context.reply.Integer(result.applied ? 1 : 0);
  context.reply.Integer(static_cast<int64_t>(result.item));
  ReplyLefts(context.reply, lefts);
}

void Buy(CommandContext& context) { Sell(context, true, "quota.buy"); }
void Record(CommandContext& context) { Sell(context, false, "quota.record"); }

void Return(CommandContext& context) {
  QuotaArgs args(context);
  QuotaReturn request;
  std::vector<QuotaReturnItem> items;
  if (!ReadReturn(args, request, items)) return;
  std::vector<int32_t> credited;
  const auto outcome = QuotaBooks(PlaceOf(context)).Return(args.write_args(), request, credited);
  if (!ReportAndLog(context, args, outcome, "quota.return", "item")) return;
  context.reply.Array(credited.size());
  for (const int32_t qty : credited) context.reply.Integer(qty);
}

void Confirm(CommandContext& context) {
  QuotaArgs args(context);
  QuotaId user;
  QuotaId order;
  if (!args.Read("user", user) || !args.Read("order", order) || !args.End()) return;
  QuotaBook::ConfirmResult result;
  const auto outcome = QuotaBooks(PlaceOf(context)).Confirm(args.write_args(), user, order, result);
  if (!ReportAndLog(context, args, outcome, "quota.confirm", "order")) return;
  context.reply.Integer(result.bought ? 1 : 0);
}

void ResetQuota(CommandContext& context) {
  QuotaArgs args(context);
  QuotaArgs::Ids users;
  QuotaActions actions;
  if (!args.ReadIds("user", users) || !args.ReadActionsToEnd(actions)) return;
  size_t reset = 0;
  QuotaBooks books(PlaceOf(context));
  if (actions.none()) return books.ExpireUsers(args.write_args(), users);
  const auto outcome = books.Reset(args.write_args(), users, actions, reset);
  if (!ReportAndLog(context, args, outcome, "quota.reset", "user")) return;
  context.reply.Integer(static_cast<int64_t>(reset));
}

void Left(CommandContext& context) {
  QuotaArgs args(context);
  QuotaId user;
  QuotaArgs::Ids skus;
  int64_t at_ms = args.now_ms();
  const QuotaBook* book = nullptr;
  if (!args.Read("user", user) || !args.ReadIds("sku", skus)) return;
  while (args.TakeOption("at")) {
    if (!args.ReadPastInstant(at_ms)) return;
  }
  if (!args.End() || !args.ReadBook(book)) return;
  QuotaLefts lefts;
  if (book != nullptr) {
    if (book->HasTooManyLimits(skus)) {
      args.TooMuch("sku");
      return;
    }
    book->Left(user, skus, at_ms, args.now_ms(), lefts, context.fetched);
  } else {
    for (const QuotaId& sku : skus) {
      lefts.BeginSku(sku);
      lefts.Add(kNoAction, kUnlimited);
    }
  }
  ReplyLefts(context.reply, lefts);
}

// Prefetches the user and the SKUs of each call that names the same book as the first call, up to
// kMaxPrefetch SKUs in all.
bool FetchLefts(const Keyspace& keyspace, std::span<const Args> calls) {
  if (calls.empty()) return false;
  const std::string_view key = calls.front()[1];
  const Keyspace::Entry entry = keyspace.Peek(key);
  if (!entry || entry.type() != kTypeOf<QuotaBook>) return false;
  absl::InlinedVector<QuotaId, QuotaBook::kMaxPrefetch> users;
  absl::InlinedVector<QuotaId, QuotaBook::kMaxPrefetch> skus;
  bool all = true;
  for (const Args call : calls) {
    all &= call[1] == key && skus.size() + call.size() <= QuotaBook::kMaxPrefetch;
    if (call[1] != key) continue;
    for (size_t i = 2; i < call.size() && skus.size() < QuotaBook::kMaxPrefetch; ++i) {
      QuotaId id;
      if (!ReadQuotaId(call[i], id) || (i > 3 && id.is_text() && IsWord(call[i], "at"))) break;
      (i == 2 ? users : skus).push_back(id);
    }
  }
  entry.heap<QuotaBook>().Prefetch(users, skus);
  return all;
}

// Replies for each user [sku, [[action, left], …]] of each SKU that the user has bought and that
// has a limit. The SKU is part of the reply because the caller did not name it.
void LeftByUser(CommandContext& context) {
  QuotaArgs args(context);
  QuotaArgs::Ids users;
  QuotaActions actions;
  const QuotaBook* book = nullptr;
  if (!args.ReadIds("user", users) || !args.ReadActionsToEnd(actions)) return;
  if (!args.ReadBook(book)) return;
  if (book == nullptr) return ReplyEmptyArrays(context.reply, users.size());
  QuotaUserLefts left;
  if (!book->LeftAll(users, actions, args.now_ms(), left)) {
    args.TooMuch("user");
    return;
  }
  context.reply.Array(users.size());
  for (const QuotaUserLefts::Skus& skus : left.users) {
    context.reply.Array(skus.end - skus.begin);
    for (size_t i = skus.begin; i < skus.end; ++i) {
      context.reply.Array(2);
      ReplyId(context.reply, left.lefts.sku(i));
      ReplyLeft(context.reply, left.lefts.of(i));
    }
  }
}

void ShowQuota(CommandContext& context) {
  QuotaArgs args(context);
  QuotaId user;
  QuotaArgs::Ids skus;
  const QuotaBook* book = nullptr;
  if (!args.Read("user", user) || !args.ReadIds("sku", skus) || !args.End()) return;
  if (!args.ReadBook(book)) return;
  if (book == nullptr) return ReplyEmptyArrays(context.reply, skus.size());
  if (book->HasTooManyLimits(skus)) {
    args.TooMuch("sku");
    return;
  }
  context.reply.Array(skus.size());
  book->Uses(user, skus, args.now_ms(), [&](std::span<const QuotaUse> uses) {
    context.reply.Array(uses.size());
    for (const QuotaUse& use : uses) {
      context.reply.Array(6);
      ReplyId(context.reply, use.action);
      for (const int64_t field :
           {int64_t{use.limit}, use.window_ms, use.used, use.left, use.next_ms}) {
        context.reply.Integer(field);
      }
    }
  });
}

void History(CommandContext& context) {
  QuotaArgs args(context);
  QuotaId user;
  const QuotaBook* book = nullptr;
  if (!args.Read("user", user) || !args.End() || !args.ReadBook(book)) return;
  if (book == nullptr) return context.reply.Array(0);
  size_t lines = 0;
  book->ForEachPurchase(user, args.now_ms(), [&](const QuotaPurchase&) { ++lines; });
  context.reply.Array(lines);
  book->ForEachPurchase(user, args.now_ms(), [&](const QuotaPurchase& line) {
    context.reply.Array(6);
    for (const QuotaId& id : {line.order, line.sku, line.action}) ReplyId(context.reply, id);
    for (const int64_t field : {int64_t{line.qty}, line.ts_ms, line.held_until_ms}) {
      context.reply.Integer(field);
    }
  });
}

void StatsOfBook(CommandContext& context) {
  const QuotaBook* book = nullptr;
  if (!QuotaArgs(context).ReadBook(book)) return;
  const QuotaBook::Stats stats = book != nullptr ? book->stats() : QuotaBook::Stats();
  context.reply.Array(4);
  for (const size_t figure : {stats.limits, stats.users, stats.purchases, stats.bytes}) {
    context.reply.Integer(static_cast<int64_t>(figure));
  }
}

constexpr std::string_view kOrderReply = "applied item left:[[action left]]";

constexpr Command kQuotaCommands[] = {
    {"quota", nullptr, -2, 0, {}, "Says how QUOTA commands are used.", "1.0.0", "", kFamilyHelp},
    Replying(kOrderReply,
             {"quota.buy", Buy, -8, kStores, kOneKey,
              "Records an order of a user if every limit leaves room for it.", "1.0.0",
              "book#0 user order ITEMS item(sku action qty:int)... [AT t:time] [ONCE] [HOLD ttl]"}),
    {"quota.confirm", Confirm, -4, kStores, kOneKey, "Makes what is held of an order a purchase.",
     "1.0.0", "book#0 user order"},
    {"quota.dellimit", DelLimit, -3, kWrite, kOneKey,
     "Deletes limits of SKUs; purchases made until then never count for them again.", "1.0.0",
     "book#0 sku... [ACTIONS action...]"},
    Replying("[order sku action qty ts_ms held_until_ms]",
             {"quota.history", History, 3, kReadOnly, kOneKey,
              "Returns the purchases kept of a user.", "1.0.0", "book#0 user"}),
    Replying("[[action left]]", {"quota.left",
                                 Left,
                                 -4,
                                 kReadOnly,
                                 kOneKey,
                                 "Returns how many of each SKU a user may still buy.",
                                 "1.0.0",
                                 "book#0 user sku... [AT t:time]",
                                 {},
                                 nullptr,
                                 nullptr,
                                 FetchLefts}),
    Replying("[[sku left:[action left]]]",
             {"quota.leftbyuser", LeftByUser, -3, kReadOnly, kOneKey,
              "Returns how many users may still buy of each SKU that they have bought.", "1.0.0",
              "book#0 user... [ACTIONS action...]"}),
    Replying("[[action limit window_ms set_at_ms]]",
             {"quota.limits", ListQuotaLimits, -3, kReadOnly, kOneKey,
              "Returns the limits of SKUs.", "1.0.0", "book#0 sku... [ACTIONS action...]"}),
    Replying(kOrderReply,
             {"quota.record", Record, -8, kStores, kOneKey,
              "Records an order of a user, whatever the limits say.", "1.0.0",
              "book#0 user order ITEMS item(sku action qty:int)... [AT t:time] [ONCE] [HOLD ttl]"}),
    {"quota.reset", ResetQuota, -3, kWrite, kOneKey,
     "Forgets users, or starts their counters of some actions from 0.", "1.0.0",
     "book#0 user... [ACTIONS action...]"},
    {"quota.return", Return, -7, kWrite, kOneKey,
     "Takes quantities back from the lines of an order.", "1.0.0",
     "book#0 user order ITEMS item(sku qty:int)... [AT t:time] [ONCE]"},
    {"quota.setlimit", SetLimit, -6, kStores, kOneKey,
     "Sets limits by SKU and marketing action; purchases already made stay counted.", "1.0.0",
     "book#0 limit(sku action limit:int window)..."},
    Replying(
        "[[action limit window_ms used left next_ms]]",
        {"quota.show", ShowQuota, -4, kReadOnly, kOneKey,
         "Returns the limits of SKUs, what a user has used of them, and when it is free again.",
         "1.0.0", "book#0 user sku..."}),
    Replying("limits users purchases bytes",
             {"quota.stats", StatsOfBook, 2, kReadOnly, kOneKey,
              "Returns the numbers of limits, users, purchases and bytes of a book.", "1.0.0",
              "book#0"}),
};

}  // namespace

std::span<const Command> QuotaCommands() { return kQuotaCommands; }

}  // namespace tally::server
