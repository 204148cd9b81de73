// Intersections, unions and differences of sets.
#include <absl/container/inlined_vector.h>
#include <absl/functional/function_ref.h>

#include <algorithm>

#include "core/set/set.h"
#include "server/arguments/counted_keys.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/set_value.h"

namespace tally::server {
namespace {

// Null stands for a set that is absent.
using Operands = absl::InlinedVector<const Set*, 8>;
using Visitor = Set::StoppingVisitor;

enum class Access : uint8_t { kRead, kStore };

// Appends the sets of `keys` to `operands`. Returns false after replying WRONGTYPE.
bool ReadOperands(CommandContext& context, Args keys, Access access, Operands& operands) {
  for (const std::string_view key : keys) {
    Set* set = nullptr;
    const bool right_type =
        access == Access::kRead ? context.Read(key, set) : context.Write(key, set);
    if (!right_type) return false;
    operands.push_back(set);
  }
  return true;
}

bool IsIn(const Set* set, std::string_view member) {
  return set != nullptr && set->Contains(member);
}

// Calls visit(member) for each member that all sets have, until it returns false. Looks up each
// member of the smallest set in the other sets, the smaller ones first.
void ForEachInAll(Operands operands, Visitor visit) {
  if (std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return;
  std::sort(operands.begin(), operands.end(),
            [](const Set* a, const Set* b) { return a->size() < b->size(); });
  operands[0]->ForEach([&](const ElementView& member) {
    const bool in_all = std::all_of(operands.begin() + 1, operands.end(),
                                    [&](const Set* other) { return other->Contains(member); });
    return !in_all || visit(member);
  });
}

Set Intersect(CommandContext& context, const Operands& operands) {
  Set result(context.engine().seed());
  const SetLimits limits = SetLimitsOf(context);
  ForEachInAll(operands, [&](std::string_view member) {
    result.Insert(member, limits);
    return true;
  });
  return result;
}

Set Unite(CommandContext& context, const Operands& operands) {
  Set result(context.engine().seed());
  const SetLimits limits = SetLimitsOf(context);
  for (const Set* set : operands) {
    if (set == nullptr) continue;
    set->ForEach([&](std::string_view member) {
      result.Insert(member, limits);
      return true;
    });
  }
  return result;
}

// The members of the first set that are in no other.
Set Subtract(CommandContext& context, const Operands& operands) {
  const Set* minuend = operands[0];
  if (minuend == nullptr) return Set(context.engine().seed());
  const auto others = std::span(operands).subspan(1);
  // The result is empty; the members need not be looked at.
  if (std::find(others.begin(), others.end(), minuend) != others.end()) {
    return Set(context.engine().seed());
  }
  size_t present = 0;
  size_t in_others = 0;
  for (const Set* other : others) {
    if (other == nullptr) continue;
    ++present;
    in_others += other->size();
  }
  // Either erases the members of the other sets from a copy of the first set, or looks up its
  // members in each other set. Chooses as Redis does, because the encoding of the result depends on
  // it.
  const size_t lookups = minuend->size() * (present + 1);
  if (lookups / 2 > minuend->size() + in_others) {
    Set result = Unite(context, {minuend});
    for (const Set* other : others) {
      if (other == nullptr) continue;
      other->ForEach([&](std::string_view member) {
        result.Erase(member);
        return !result.empty();
      });
    }
    return result;
  }
  Set result(context.engine().seed());
  const SetLimits limits = SetLimitsOf(context);
  minuend->ForEach([&](std::string_view member) {
    const bool stays = std::none_of(others.begin(), others.end(),
                                    [&](const Set* other) { return IsIn(other, member); });
    if (stays) result.Insert(member, limits);
    return true;
  });
  return result;
}

using SetOperation = Set (*)(CommandContext& context, const Operands& operands);

void ReplyResult(CommandContext& context, SetOperation operation) {
  Operands operands;
  if (!ReadOperands(context, context.args.subspan(1), Access::kRead, operands)) return;
  ReplyMembers(context.reply, operation(context, operands));
}

void StoreResult(CommandContext& context, SetOperation operation, std::string_view event) {
  const std::string_view target = context.args[1];
  Operands operands;
  if (!ReadOperands(context, context.args.subspan(2), Access::kStore, operands)) return;
  Set result = operation(context, operands);
  context.reply.Integer(static_cast<int64_t>(result.size()));
  if (!result.empty()) {
    StoreSet(context, target, std::move(result));
    context.Changed(kEventSet, event, target);
  } else if (const Keyspace::Entry old = context.FindForWrite(target)) {
    context.Remove(old);
  }
}

void SInter(CommandContext& context) {
  Operands operands;
  if (!ReadOperands(context, context.args.subspan(1), Access::kRead, operands)) return;
  const size_t mark = context.reply.BeginSet();
  size_t found = 0;
  ForEachInAll(operands, [&](const ElementView& member) {
    context.reply.Bulk(member);
    ++found;
    return true;
  });
  context.reply.EndSet(mark, found);
}

void SUnion(CommandContext& context) { ReplyResult(context, Unite); }

void SDiff(CommandContext& context) { ReplyResult(context, Subtract); }

void SInterStore(CommandContext& context) { StoreResult(context, Intersect, "sinterstore"); }

void SUnionStore(CommandContext& context) { StoreResult(context, Unite, "sunionstore"); }

void SDiffStore(CommandContext& context) { StoreResult(context, Subtract, "sdiffstore"); }

void SInterCard(CommandContext& context) {
  const Args args = context.args;
  const auto count = context.Int64ArgIn(1, 1, INT64_MAX, "ERR numkeys should be greater than 0");
  if (!count) return;
  if (*count > static_cast<int64_t>(args.size()) - 2) {
    return context.reply.Error("ERR Number of keys can't be greater than number of args");
  }
  const size_t options = 2 + static_cast<size_t>(*count);
  size_t limit = 0;
  for (size_t i = options; i < args.size(); i += 2) {
    if (!IsWord(args[i], "limit") || i + 1 == args.size()) {
      return context.reply.Error(kSyntaxError);
    }
    const auto given = context.Int64ArgIn(i + 1, 0, INT64_MAX, "ERR LIMIT can't be negative");
    if (!given) return;
    limit = static_cast<size_t>(*given);
  }
  Operands operands;
  if (!ReadOperands(context, args.subspan(2, options - 2), Access::kRead, operands)) return;
  size_t found = 0;
  // A limit of 0 means no limit.
  ForEachInAll(operands, [&](std::string_view) { return ++found != limit; });
  context.reply.Integer(static_cast<int64_t>(found));
}

constexpr KeyRange kAllKeys{1, -1, 1};

constexpr Command kSetAlgebraCommands[] = {
    {"sdiff", SDiff, -2, kReadOnly, kAllKeys, "Returns the difference of sets.", "1.0.0",
     "key#0..."},
    {"sdiffstore", SDiffStore, -3, kStores, AllKeys(kOverwritesKey, kReadsKey),
     "Stores the difference of sets in a key.", "1.0.0", "destination#0 key#1..."},
    {"sinter", SInter, -2, kReadOnly, kAllKeys, "Returns the intersection of sets.", "1.0.0",
     "key#0..."},
    {"sintercard",
     SInterCard,
     -3,
     kReadOnly | kMovableKeys,
     {},
     "Returns the number of members of the intersection of sets.",
     "7.0.0",
     "numkeys:int key#0... [LIMIT limit:int]",
     {},
     FindFirstCountedKeys},
    {"sinterstore", SInterStore, -3, kStores, AllKeys(kUpdatesKey, kReadsKey),
     "Stores the intersection of sets in a key.", "1.0.0", "destination#0 key#1..."},
    {"sunion", SUnion, -2, kReadOnly, kAllKeys, "Returns the union of sets.", "1.0.0", "key#0..."},
    {"sunionstore", SUnionStore, -3, kStores, AllKeys(kOverwritesKey, kReadsKey),
     "Stores the union of sets in a key.", "1.0.0", "destination#0 key#1..."},
};

}  // namespace

std::span<const Command> SetAlgebraCommands() { return kSetAlgebraCommands; }

}  // namespace tally::server
