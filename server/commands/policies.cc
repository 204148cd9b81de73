// POLICY: rules that stand under a name, for LIMIT. They belong to the server, not to a database,
// and stay when databases are flushed.
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

void Set(CommandContext& context) {
  const Args words = context.args.subspan(2);
  if (context.args[1].size() > kMaxPolicyNameBytes) {
    return context.reply.Error(
        StrCat("ERR name must be at most ", kMaxPolicyNameBytes, " bytes long"));
  }
  RuleList list;
  if (!ReadPlainRules(context, words, list)) return;
  context.engine().policies().Set(context.args[1],
                                  PolicyTable::Words(list.words.begin(), list.words.end()));
  list.words.insert(list.words.begin(), {"POLICY.SET", context.args[1]});
  context.LogInstead(Args(list.words.data(), list.words.size()));
  context.CountChange();
  context.reply.Ok();
}

void Get(CommandContext& context) {
  const PolicyTable::Words* words = context.engine().policies().Find(context.args[1]);
  if (words == nullptr) return context.reply.NullArray();
  context.reply.Array(words->size());
  for (const std::string& word : *words) context.reply.Bulk(word);
}

void Delete(CommandContext& context) {
  const bool erased = context.engine().policies().Erase(context.args[1]);
  if (erased) context.CountChange();
  context.reply.Integer(erased ? 1 : 0);
}

void List(CommandContext& context) {
  const PolicyTable& policies = context.engine().policies();
  context.reply.Array(policies.size());
  policies.ForEach(
      [&](std::string_view name, const PolicyTable::Words&) { context.reply.Bulk(name); });
}

constexpr Command kCommands[] = {
    {"policy", nullptr, -2, 0, {}, "Says how POLICY commands are used.", "0.1.0", "", kFamilyHelp},
    {"policy.del",
     Delete,
     2,
     kWrite | kFast,
     {},
     "Deletes the rules under a name.",
     "0.1.0",
     "name"},
    {"policy.get",
     Get,
     2,
     kReadOnly | kFast,
     {},
     "Returns the rules under a name.",
     "0.1.0",
     "name"},
    {"policy.list", List, 1, kReadOnly, {}, "Returns the names of all policies.", "0.1.0"},
    {"policy.set",
     Set,
     -3,
     kWrite | kDenyOom | kFast,
     {},
     "Stores rules under a name.",
     "0.1.0",
     "name rule..."},
};

}  // namespace

std::span<const Command> PolicyCommands() { return kCommands; }

}  // namespace tally::server
