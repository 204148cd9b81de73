#include "core/engine/quota_books.h"

#include <memory>
#include <string>

#include "core/bytes/str_cat.h"
#include "core/engine/decisions.h"

namespace tally {
namespace {

constexpr Type kType = kTypeOf<QuotaBook>;

QuotaBook* BookOf(const Keyspace::Entry& entry, KeyOutcome& outcome) {
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = outcome.found && entry.type() != kType;
  return outcome.found && !outcome.wrong_type ? &entry.heap<QuotaBook>() : nullptr;
}

}  // namespace

template <typename IsTooMuch, typename Change>
QuotaBooks::Outcome QuotaBooks::Write(const WriteArgs& args, IsTooMuch&& is_too_much,
                                      Change&& change) {
  Outcome outcome;
  Keyspace& keyspace = place_.keyspace();
  QuotaBook* book = BookOf(keyspace.FindForWrite(args.book, place_.now_ms), outcome);
  if (outcome.wrong_type) return outcome;
  outcome.too_much = book != nullptr && !place_.replaying && is_too_much(*book);
  if (outcome.too_much) return outcome;
  std::unique_ptr<QuotaBook> made;
  if (book == nullptr) {
    made = std::make_unique<QuotaBook>(place_.engine.seed());
    book = made.get();
  }
  book->SetRetentionLag(args.lag_ms);
  const int64_t retention_ms = args.retention_ms.value_or(book->min_retention_ms());
  const bool retention_changed = retention_ms != book->min_retention_ms();
  if (retention_changed) book->SetMinRetention(retention_ms, args.judged_at_ms);
  const bool changed = change(*book);
  if (made != nullptr && (!changed || book->Empty())) return outcome;
  outcome.changed = changed;
  outcome.retention_changed = retention_changed;
  if (made != nullptr) {
    keyspace.SetHeap(args.book, made.release(), kNoDeadline, place_.now_ms);
  } else if (changed && book->Empty()) {
    keyspace.Erase(keyspace.FindForWrite(args.book, place_.now_ms));
    outcome.removed = true;
  }
  return outcome;
}

QuotaBooks::Outcome QuotaBooks::SetLimits(const WriteArgs& args,
                                          std::span<const QuotaLimitSpec> limits) {
  const auto is_too_much = [&](const QuotaBook& book) { return book.HasTooManyLimits(limits); };
  return Write(args, is_too_much, [&](QuotaBook& book) {
    book.SetLimits(limits, args.judged_at_ms);
    return true;
  });
}

QuotaBooks::Outcome QuotaBooks::DelLimits(const WriteArgs& args, std::span<const QuotaId> skus,
                                          const QuotaActions& actions, size_t& deleted) {
  const auto is_too_much = [&](const QuotaBook& book) { return book.HasTooManyLimits(skus); };
  return Write(args, is_too_much, [&](QuotaBook& book) {
    deleted = book.DelLimits(skus, actions, args.judged_at_ms);
    return deleted > 0;
  });
}

QuotaBooks::Outcome QuotaBooks::Buy(const WriteArgs& args, const QuotaOrder& order,
                                    QuotaBook::BuyResult& result, QuotaLefts& left) {
  const auto is_too_much = [&](const QuotaBook& book) {
    return book.HasTooManyLimits(order.items);
  };
  const Outcome outcome = Write(args, is_too_much, [&](QuotaBook& book) {
    result = book.Buy(order, args.judged_at_ms, left);
    return result.recorded || result.set_back;
  });
  if (order.if_left && !place_.replaying && !outcome.wrong_type && !outcome.too_much)
    CountSale(args, order, result);
  return outcome;
}

// An order that was not applied and has no `item` is known already (`once`): no decision was made.
void QuotaBooks::CountSale(const WriteArgs& args, const QuotaOrder& order,
                           const QuotaBook::BuyResult& result) {
  Decisions& decisions = place_.engine.decisions();
  if (result.applied) return decisions.CountSold();
  if (result.item == 0) return;
  const QuotaItem& item = order.items[result.item - 1];
  decisions.CountUnsold(
      args.book,
      StrCat("QUOTA ", TextOf(item.sku), ' ', TextOf(item.action), ' ', TextOf(order.user)),
      {place_.database, place_.now_ms});
}

QuotaBooks::Outcome QuotaBooks::Confirm(const WriteArgs& args, const QuotaId& user,
                                        const QuotaId& order, QuotaBook::ConfirmResult& result) {
  const auto is_too_much = [](const QuotaBook&) { return false; };
  return Write(args, is_too_much, [&](QuotaBook& book) {
    result = book.Confirm(user, order, args.judged_at_ms);
    return result.changed;
  });
}

QuotaBooks::Outcome QuotaBooks::Return(const WriteArgs& args, const QuotaReturn& request,
                                       std::vector<int32_t>& credited) {
  const auto is_too_much = [](const QuotaBook&) { return false; };
  return Write(args, is_too_much,
               [&](QuotaBook& book) { return book.Return(request, args.judged_at_ms, credited); });
}

QuotaBooks::Outcome QuotaBooks::Reset(const WriteArgs& args, std::span<const QuotaId> users,
                                      const QuotaActions& actions, size_t& reset) {
  const auto is_too_much = [&](const QuotaBook& book) { return book.HasTooManyPurchases(users); };
  return Write(args, is_too_much, [&](QuotaBook& book) {
    reset = book.Reset(users, actions, args.judged_at_ms);
    return reset > 0;
  });
}

QuotaBook* QuotaBooks::FindToExpire(const WriteArgs& args) {
  KeyOutcome outcome;
  QuotaBook* book = BookOf(place_.keyspace().FindForWrite(args.book, place_.now_ms), outcome);
  if (book != nullptr) book->SetRetentionLag(args.lag_ms);
  return book;
}

void QuotaBooks::ExpireUsers(const WriteArgs& args, std::span<const QuotaId> users) {
  QuotaBook* const book = FindToExpire(args);
  if (book == nullptr) return;
  for (const QuotaId& user : users) book->ExpireUser(user, args.judged_at_ms);
}

void QuotaBooks::ExpireLimits(const WriteArgs& args, std::span<const QuotaId> skus) {
  QuotaBook* const book = FindToExpire(args);
  if (book == nullptr) return;
  for (const QuotaId& sku : skus) book->ExpireLimits(sku, args.judged_at_ms);
}

const QuotaBook* QuotaBooks::Find(std::string_view book, KeyOutcome& outcome) {
  QuotaBook* found = BookOf(place_.keyspace().Find(book, place_.now_ms), outcome);
  if (found != nullptr) found->SetRetentionLag(place_.engine.deletion_lag_ms());
  return found;
}

}  // namespace tally
