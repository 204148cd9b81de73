// POLICY: rules with a name, for LIMIT. Policies belong to the server, not to a database, and stay
// when databases are flushed. A user's key patterns say which policies the user may set, see and
// delete; no right is needed to use a policy in a rule.
#include <string>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/limit/policy_table.h"
#include "server/command/command_context.h"
#include "server/command/help.h"
#include "server/commands/families.h"
#include "server/commands/limit_args.h"

namespace tally::server {
namespace {

constexpr size_t kMaxPolicyNameBytes = 1024;

void PolicySet(CommandContext& context) {
  const Args words = context.args.subspan(2);
  if (context.args[1].size() > kMaxPolicyNameBytes) {
    return context.reply.Error(
        StrCat("ERR name must be at most ", kMaxPolicyNameBytes, " bytes long"));
  }
  RuleList list;
  if (!ReadPlainRules(context, words, list)) return;
  context.engine()
      .policies()
      .Set(context.args[1], StoredWords(list.words.begin(), list.words.end()))
      .SetRules({list.rules.data(), list.rules.size()});
  list.words.insert(list.words.begin(), {"POLICY.SET", context.args[1]});
  context.LogInstead(Args(list.words.data(), list.words.size()));
  context.CountChange();
  context.reply.Ok();
}

void PolicyGet(CommandContext& context) {
  const Policy* policy = context.engine().policies().Find(context.args[1]);
  if (policy == nullptr) return context.reply.NullArray();
  context.reply.Array(policy->words().size());
  for (const std::string& word : policy->words()) context.reply.Bulk(word);
}

void PolicyDelete(CommandContext& context) {
  const bool erased = context.engine().policies().Erase(context.args[1]);
  if (erased) context.CountChange();
  context.reply.Integer(erased ? 1 : 0);
}

// Replies the policies that the user may read.
void PolicyList(CommandContext& context) {
  const size_t mark = context.reply.BeginArray();
  size_t shown = 0;
  context.engine().policies().ForEach([&](std::string_view name, const StoredWords&) {
    if (!context.MayRead(name)) return;
    context.reply.Bulk(name);
    ++shown;
  });
  context.reply.EndArray(mark, shown);
}

constexpr Command kPolicyCommands[] = {
    {"policy", nullptr, -2, 0, {}, "Says how POLICY commands are used.", "1.0.0", "", kFamilyHelp},
    {.name = "policy.del",
     .handler = PolicyDelete,
     .arity = 2,
     .flags = kWrite | kFast,
     .keys = {},
     .summary = "Deletes the rules under a name.",
     .since = "1.0.0",
     .arguments = "name",
     .policy_use = kRemovesKey},
    {.name = "policy.get",
     .handler = PolicyGet,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {},
     .summary = "Returns the rules under a name.",
     .since = "1.0.0",
     .arguments = "name",
     .policy_use = kReadsKey},
    {.name = "policy.list",
     .handler = PolicyList,
     .arity = 1,
     .flags = kReadOnly,
     .keys = {},
     .summary = "Returns the names of the policies that the user may read.",
     .since = "1.0.0"},
    {.name = "policy.set",
     .handler = PolicySet,
     .arity = -3,
     .flags = kStores | kFast,
     .keys = {},
     .summary = "Stores rules under a name.",
     .since = "1.0.0",
     .arguments = "name rule...",
     .policy_use = kOverwritesKey},
};

}  // namespace

std::span<const Command> PolicyCommands() { return kPolicyCommands; }

}  // namespace tally::server
